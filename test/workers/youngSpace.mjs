// Has the thread of tapes make garbage and prints how many bytes its young objects then have room for.
import { fileURLToPath } from 'node:url'
import { createTapeThread } from '../../dist/workers/resident.js'

const entry = fileURLToPath(new URL('./faultyTasks.mjs', import.meta.url))
const options = { memoryMb: 256, parallelMax: 1, stallMs: 120_000, setup: {}, onLost: () => undefined }
const thread = createTapeThread({ ...options, entry })
process.stdout.write(`${await thread.ask(0, 'garbage', {})}\n`)
await thread.close()
