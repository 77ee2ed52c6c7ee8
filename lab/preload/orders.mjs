// Preloaded into a daemon: carries out what the lab writes into the file CHAOS_ORDERS, each time a SIGUSR2 arrives.
//   {"clock": <milliseconds>}  shifts the clock of the system as the daemon sees it; CHAOS_CLOCK is where it begins
//   {"thread": <0..1>}         ends one of its worker threads in the middle of whatever it does
// With CHAOS_COLLECT=<seconds> the main thread and each worker collect their garbage so often, and write into a file of
// their own in the folder CHAOS_MEMORY how many bytes are still alive: V8 lets a heap grow for minutes before it looks,
// and what it has not looked at cannot be told from a leak.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread, threadId } from 'node:worker_threads'

if (process.env.CHAOS_COLLECT !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const report = join(process.env.CHAOS_MEMORY, `${process.pid}-${threadId}`)
  const look = () => {
    collect()
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
    writeFileSync(report, String(heap + external))
  }
  setInterval(look, Number(process.env.CHAOS_COLLECT) * 1000).unref()
}

if (isMainThread) {
  const threads = createRequire(import.meta.url)('node:worker_threads')
  const alive = new Set()
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(...args) {
      super(...args)
      alive.add(this)
      this.once('exit', () => alive.delete(this))
    }
  }
  syncBuiltinESMExports()

  let shiftMs = Number(process.env.CHAOS_CLOCK ?? 0)
  const now = Date.now
  Date.now = () => now() + shiftMs

  process.on('SIGUSR2', () => {
    const order = JSON.parse(readFileSync(process.env.CHAOS_ORDERS, 'utf8'))
    if (order.clock !== undefined) shiftMs = order.clock
    if (order.thread !== undefined) [...alive][Math.floor(order.thread * alive.size)]?.terminate()
  })
}
