// Runs a piece of work under a time limit and a signal of its caller. The work hears of both through one signal, whose
// reason is the failure to report. Work that does not listen is given up after a while: its caller is never kept.
import { ToolFailure } from '../domain/tool/toolFailure.js'

/** TERM, KILL and closing what is open take their time; see endingSignals.ts. */
const IGNORED_MS = 25_000
/** The longest that a timer can wait. */
const TIMER_MS_MAX = 2_147_483_647

export interface TimeLimit {
  readonly parent: AbortSignal
  readonly ms: number
  /** For the message: "python did not end within 300 s". */
  readonly what: string
}

export async function withinTime<T>(limit: TimeLimit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { parent, ms, what } = limit
  if (parent.aborted) throw parent.reason
  const own = new AbortController()
  const onParent = (): void => own.abort(parent.reason)
  parent.addEventListener('abort', onParent, { once: true })
  const timer = setTimeout(() => own.abort(outOfTime(what, ms)), Math.min(ms, TIMER_MS_MAX))
  let giveUp: NodeJS.Timeout | undefined
  const ignored = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => {
      giveUp = setTimeout(() => reject(own.signal.reason), IGNORED_MS)
    })
  })
  try {
    return await Promise.race([work(own.signal), ignored])
  } catch (error) {
    if (!own.signal.aborted) throw error
    const reason = own.signal.reason as ToolFailure
    throw error instanceof ToolFailure && error !== reason ? reason.with(error.facts) : reason
  } finally {
    clearTimeout(timer)
    clearTimeout(giveUp)
    parent.removeEventListener('abort', onParent)
  }
}

function outOfTime(what: string, ms: number): ToolFailure {
  return new ToolFailure('timeout', `${what} did not end within ${ms / 1000} s`)
}

/** Resolves after ms; rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const done = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
