// Preloaded into a daemon: carries out what the lab writes into the file CHAOS_ORDERS, each time a SIGUSR2 arrives.
//   {"clock": <milliseconds>}  shifts the clock of the system as the daemon sees it
//   {"thread": <0..1>}         ends one of its worker threads in the middle of whatever it does
import { readFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

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

  let shiftMs = 0
  const now = Date.now
  Date.now = () => now() + shiftMs

  process.on('SIGUSR2', () => {
    const order = JSON.parse(readFileSync(process.env.CHAOS_ORDERS, 'utf8'))
    if (order.clock !== undefined) shiftMs = order.clock
    if (order.thread !== undefined) [...alive][Math.floor(order.thread * alive.size)]?.terminate()
  })
}
