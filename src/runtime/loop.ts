// Runs a background loop: one bounded pass, then the next at once if there is more to do, else a pause with jitter or
// until nudged. An error is reported, the pause grows, and the loop goes on.
//
//   idle ──nudge or timer──▶ pass ──more to do──▶ pass
//     ▲                       ├──nothing left──▶ idle
//     └──pause is over── backing off ◀──error──┘          any state ──stop()──▶ stopped, within its deadline

import { type CpError, toCpError } from '../errors.js'
import type { Clock } from './clock.js'
import { jittered } from './jitter.js'
import type { Service } from './service.js'

export interface LoopOptions {
  name: string
  clock: Clock
  random: () => number
  /** One bounded pass. Answers whether more work is waiting. Must end soon after the signal aborts. */
  runOnce(signal: AbortSignal): Promise<'busy' | 'idle'>
  idleMs: number
  /** First and largest pause after an error. */
  errorMs: number
  errorMsMax: number
  onError(error: CpError, consecutive: number): void
}

export interface PollLoop extends Service {
  /** A hint that work has arrived. Cheap, and safe to call at any time. */
  nudge(): void
  /** Milliseconds since the last pass that ended well; undefined before the first. */
  lastSuccessAgeMs(): number | undefined
}

export function createPollLoop(options: LoopOptions): PollLoop {
  const { clock } = options
  let running: Promise<void> | undefined
  let stopping = new AbortController()
  let wake: AbortController | undefined
  let nudged = false
  let lastSuccessAt: number | undefined

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      nudged = false
      let pauseMs = 0
      try {
        const outcome = await options.runOnce(signal)
        failures = 0
        lastSuccessAt = clock.monotonic()
        if (outcome === 'idle') pauseMs = jittered(options.idleMs, options.random)
      } catch (error) {
        failures += 1
        if (!signal.aborted) options.onError(toCpError(error), failures)
        pauseMs = jittered(
          Math.min(options.errorMsMax, options.errorMs * 2 ** Math.min(failures - 1, 10)),
          options.random,
        )
      }
      if (pauseMs === 0) {
        // A full pass may have been synchronous enough to starve others; let them in.
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      if (nudged && failures === 0) continue
      // A hint does not shorten the pause after an error: a busy writer would otherwise hammer a dead server.
      wake = failures === 0 ? new AbortController() : undefined
      await clock.sleep(pauseMs, signal, ...(wake === undefined ? [] : [wake.signal]))
      wake = undefined
    }
  }

  return {
    name: options.name,
    start: async () => {
      if (running !== undefined) return
      stopping = new AbortController()
      running = run(stopping.signal)
    },
    stop: async () => {
      stopping.abort()
      await running
      running = undefined
    },
    nudge: () => {
      nudged = true
      wake?.abort('woken')
    },
    lastSuccessAgeMs: () => (lastSuccessAt === undefined ? undefined : clock.monotonic() - lastSuccessAt),
  }
}
