// Opens pools and closes them while their threads still load, at many moments of it. Prints how many times.
import { fileURLToPath } from 'node:url'
import { createWorkerPool } from '../../dist/workers/pool.js'

const entry = fileURLToPath(new URL('../../dist/bundle/entry.js', import.meta.url))
const settings = { threads: 1, queueMax: 1, memoryMb: 64, taskTimeoutMs: 20_000, entry }
let closed = 0
for (; closed < 40; closed++) {
  const pools = Array.from({ length: 4 }, () => createWorkerPool(settings))
  await new Promise((resolve) => setTimeout(resolve, 60 + 3 * closed))
  await Promise.all(pools.map((pool) => pool.close(0)))
}
process.stdout.write(`${closed}\n`)
