// Counts what waits in the sources of pull subscriptions, for metrics and `status`: the number of messages and the age of
// the oldest. Paused subscriptions are counted as well. A source that does not answer is left out; the trouble on its row
// says why.
import type { CpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { listLivePull } from '../../stores/subscriptions/subscriptionStore.js'
import { backlogOrTrouble, type ViewDeps } from './views.js'

export interface StateBacklog {
  messages: number
  oldestSeconds: number
}

export interface BacklogWatchDeps extends ViewDeps {
  random: () => number
  onBacklog(byState: ReadonlyMap<string, StateBacklog>): void
  onError(error: CpError): void
}

const EVERY_MS = 15_000
// The newest ones, where there are more: two requests each.
const SUBSCRIPTIONS_MAX = 200
const AT_ONCE = 8

export function createBacklogWatch(deps: BacklogWatchDeps): PollLoop {
  async function pass(): Promise<'idle'> {
    const waiting = await listLivePull(deps.databases.cluster.db, SUBSCRIPTIONS_MAX)
    const byState = new Map<string, StateBacklog>()
    const work = async (): Promise<void> => {
      for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
        const found = await backlogOrTrouble(deps, row)
        if ('trouble' in found) continue
        const sum = byState.get(row.state) ?? { messages: 0, oldestSeconds: 0 }
        sum.messages += found.pending + found.ackPending
        sum.oldestSeconds = Math.max(sum.oldestSeconds, found.oldestSeconds ?? 0)
        byState.set(row.state, sum)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    deps.onBacklog(byState)
    return 'idle'
  }

  return createPollLoop({
    name: 'subscription backlog',
    clock: deps.clock,
    random: deps.random,
    idleMs: EVERY_MS,
    errorMs: 1_000,
    errorMsMax: EVERY_MS,
    onError: deps.onError,
    runOnce: pass,
  })
}
