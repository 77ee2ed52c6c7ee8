// Preloaded into a daemon (--import): how long its main loop was held up, and what memory is in use when it has collected
// its garbage. Told by a file, on SIGUSR2. Held up is counted twice: by the clock, and by the processor time of the main
// thread, which others on the machine add nothing to.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const EVERY_MS = 2
const file = process.env.NOETL_BENCH_LOOP_FILE

if (isMainThread && file !== undefined) {
  const busyMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
  let wall = performance.now()
  let busy = busyMs()
  let longest = { wallMs: 0, busyMs: 0 }
  setInterval(() => {
    const nowWall = performance.now()
    const nowBusy = busyMs()
    longest.wallMs = Math.max(longest.wallMs, nowWall - wall - EVERY_MS)
    longest.busyMs = Math.max(longest.busyMs, nowBusy - busy)
    wall = nowWall
    busy = nowBusy
  }, EVERY_MS).unref()
  process.on('SIGUSR2', () => {
    const told = longest
    globalThis.gc()
    const { heapUsed, external } = process.memoryUsage()
    writeFileSync(`${file}.new`, JSON.stringify({ ...told, usedMb: (heapUsed + external) / 1_048_576 }))
    renameSync(`${file}.new`, file)
    longest = { wallMs: 0, busyMs: 0 }
    wall = performance.now()
    busy = busyMs()
  })
}
