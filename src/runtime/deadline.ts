// Gives a wait a deadline. When the deadline wins, the late result is dropped and a late error is ignored on purpose:
// the caller has already got the timeout.
import { CpError } from '../errors.js'

export interface DeadlineOptions {
  /** What was being waited for, in words: "query outbox_claim on shard 0". */
  what: string
  /** Called once when time is up, before the rejection: discard the connection, kill the thread. */
  onExpire?: () => void
}

export function withDeadline<T>(promise: PromiseLike<T>, ms: number, options: DeadlineOptions): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      options.onExpire?.()
      reject(new CpError('timeout', `${options.what} did not finish within ${Math.round(ms)} ms`))
    }, ms)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
