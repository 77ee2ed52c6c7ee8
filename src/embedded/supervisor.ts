// Keeps one child running: when it ends without being asked, it is started again after a growing pause,
// for as long as it takes. States: running → restarting → running, and from both → stopped, by stop()
// alone. It never gives up by itself and never runs two at a time.

import { CpError, messageOf } from '../errors.js'
import type { EmbeddedLog } from './embeddedLog.js'
import type { LeashedChild, StopStep } from './leash.js'
import { pause } from './pollUntil.js'

export interface Supervised {
  /** Of the present child; changes after a restart. */
  readonly pid: number
  stop(steps: readonly StopStep[]): Promise<void>
}

export interface SupervisedStart {
  name: string
  start: (signal: AbortSignal) => Promise<LeashedChild>
  log: EmbeddedLog
}

const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 10_000
/** A child that ran this long was healthy: its next restart begins with the short pause again. */
const HEALTHY_AFTER_MS = 60_000

/** The first child is already running: how it came up is the caller's story. */
export function supervise(spec: SupervisedStart, first: LeashedChild): Supervised {
  const stopping = new AbortController()
  let child = first
  const watching = watch()

  async function watch(): Promise<void> {
    let pauseMs = PAUSE_MS_MIN
    while (!stopping.signal.aborted) {
      const since = performance.now()
      const code = await child.exited
      if (stopping.signal.aborted) return
      if (performance.now() - since > HEALTHY_AFTER_MS) pauseMs = PAUSE_MS_MIN
      spec.log('error', `${spec.name} ended unexpectedly; starting it again`, { pid: child.pid, exitCode: code })
      pauseMs = await startAgain(pauseMs)
    }
  }

  async function startAgain(firstPauseMs: number): Promise<number> {
    let pauseMs = firstPauseMs
    while (!stopping.signal.aborted) {
      await pause(pauseMs, stopping.signal)
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)
      if (stopping.signal.aborted) break
      try {
        child = await spec.start(stopping.signal)
        spec.log('info', `${spec.name} runs again`, { pid: child.pid })
        break
      } catch (error) {
        if (stopping.signal.aborted) break
        spec.log('error', `${spec.name} could not be started again`, { reason: messageOf(error), retryInMs: pauseMs })
      }
    }
    return pauseMs
  }

  async function stopOrComplain(target: LeashedChild, steps: readonly StopStep[]): Promise<void> {
    if (await target.stop(steps)) return
    throw new CpError('timeout', `${spec.name} (pid ${target.pid}) did not stop; end it with: kill -9 ${target.pid}`)
  }

  return {
    get pid() {
      return child.pid
    },
    async stop(steps) {
      stopping.abort()
      await stopOrComplain(child, steps)
      // A restart under way undoes what it began, unless it had just finished: then there is a new child.
      await watching
      await stopOrComplain(child, steps)
    },
  }
}
