// So many at a time. The others wait in the order in which they came, bounded in number and time; whoever goes away meanwhile gives
// the place up.
import { CpError } from '../errors.js'

export type Gate = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

export interface GateSettings {
  atOnce: number
  waitingMax: number
  waitMs: number
  /** Of which there are too many, for whoever is refused. */
  what: string
}

const RETRY_AFTER_SECONDS = 2

export function createGate({ atOnce, waitingMax, waitMs, what }: GateSettings): Gate {
  let active = 0
  const waiting = new Set<() => void>()

  async function enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw gone()
    if (active < atOnce) {
      active += 1
      return
    }
    if (waiting.size >= waitingMax) throw refused(`${waitingMax} ${what} are asked for already; ask again`)
    await new Promise<void>((resolve, reject) => {
      const rest = (): void => {
        waiting.delete(take)
        clearTimeout(timer)
        signal.removeEventListener('abort', leaves)
      }
      const take = (): void => {
        rest()
        resolve()
      }
      const leaves = (): void => {
        rest()
        reject(gone())
      }
      const timer = setTimeout(() => {
        rest()
        reject(refused(`too many ${what} are asked for at once; it was not this one's turn for ${waitMs / 1000} s`))
      }, waitMs)
      signal.addEventListener('abort', leaves, { once: true })
      waiting.add(take)
    })
  }

  /** The place goes to whoever has waited longest. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) active -= 1
    else next()
  }

  return async (work, signal) => {
    await enter(signal)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

function gone(): CpError {
  return new CpError('cancelled', 'the caller went away while it waited for its turn')
}

function refused(message: string): CpError {
  return new CpError('overloaded', message, { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } })
}
