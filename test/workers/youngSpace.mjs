// Has a thread of each kind make garbage and prints how many bytes its young objects then have room for.
import { fileURLToPath } from 'node:url'
import { createWorkerPool } from '../../dist/workers/pool.js'
import { createResidentThreads, createTapeThread } from '../../dist/workers/resident.js'

const entry = fileURLToPath(new URL('./faultyTasks.mjs', import.meta.url))
const options = { memoryMb: 256, parallelMax: 1, stallMs: 120_000, setup: {}, onLost: () => undefined, entry }
const states = createResidentThreads({ ...options, threads: 1 })
const tapes = createTapeThread(options)
const tasks = createWorkerPool({ threads: 1, queueMax: 1, memoryMb: 256, taskTimeoutMs: 120_000, entry })
const rooms = {
  states: await states.ask(0, 'garbage', {}),
  tapes: await tapes.ask(0, 'garbage', {}),
  tasks: await tasks.run('garbage', {}),
}
process.stdout.write(`${JSON.stringify(rooms)}\n`)
await Promise.all([states.close(), tapes.close(), tasks.close(1_000)])
