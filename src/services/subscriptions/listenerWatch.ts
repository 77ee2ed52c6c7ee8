// Checks in every daemon whether active listeners could start what is pushed to them, and notes what is missing on the
// row, as drivers do for pull subscriptions. The listeners that changed last are checked first.
import type { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  listListeners,
  listRecentListeners,
  type SubscriptionRow,
  setTrouble,
} from '../../stores/subscriptions/subscriptionStore.js'
import { hinders, type ObstacleDeps, obstaclesOf } from './obstacles.js'

export interface ListenerWatchDeps extends ObstacleDeps {
  clock: Clock
  random: () => number
  /** What keeps a listener from starting anything; null when nothing does any more. */
  onTrouble(row: SubscriptionRow, trouble: string | null): void
  onError(error: CpError): void
}

const EVERY_MS = 15_000
const RECENT_MAX = 20
const PAGE = 100

export function createListenerWatch(deps: ListenerWatchDeps): PollLoop {
  const { db } = deps.databases.cluster
  let after = '0'
  let pageAt = 0

  /** On the timer alone: a hint says that one has changed, not that all have. */
  async function nextPage(): Promise<SubscriptionRow[]> {
    if (deps.clock.monotonic() < pageAt) return []
    pageAt = deps.clock.monotonic() + EVERY_MS / 2
    const page = await listListeners(db, after, PAGE)
    after = page.length < PAGE ? '0' : page[PAGE - 1]!.subscription_id
    return page
  }

  async function look(row: SubscriptionRow): Promise<void> {
    const obstacles = row.state === 'ACTIVE' ? (await obstaclesOf(deps, row)).filter(hinders) : []
    const trouble = obstacles.length === 0 ? null : obstacles.map(({ text }) => text).join('; ')
    if (trouble === row.trouble) return
    await setTrouble(db, row.subscription_id, trouble)
    deps.onTrouble(row, trouble)
  }

  return createPollLoop({
    name: 'listener watch',
    clock: deps.clock,
    random: deps.random,
    idleMs: EVERY_MS,
    errorMs: 1_000,
    errorMsMax: EVERY_MS,
    onError: deps.onError,
    runOnce: async () => {
      const recent = await listRecentListeners(db, RECENT_MAX)
      const known = new Set(recent.map((row) => row.subscription_id))
      for (const row of recent) await look(row)
      for (const row of await nextPage()) if (!known.has(row.subscription_id)) await look(row)
      return 'idle'
    },
  })
}
