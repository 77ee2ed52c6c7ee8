// The timer of the lifecycle, in every daemon, every 0.5 s: finishes intents older than 2 s, ends pauses whose time is
// over, completes drains, reads the catalog entries of adopted rows, and every 30 s compares live rows with their logs.
// Several daemons may do this at once.
import { compareIds } from '../../domain/ids/ids.js'
import type { CpError } from '../../errors.js'
import { toCpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { countDead } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { newestLifecycle } from '../../stores/subscriptions/subscriptionLogStore.js'
import {
  countSubscriptions,
  type DueRow,
  getSubscription,
  listDue,
  pageOfLive,
} from '../../stores/subscriptions/subscriptionStore.js'
import { describeSubscription } from './describe.js'
import { followSubscription, withoutIntent } from './following.js'
import { changeSubscription, type LifecycleDeps } from './lifecycle.js'

export interface LifecycleTimerDeps extends LifecycleDeps {
  random: () => number
  onCounts(byState: ReadonlyMap<string, number>, dead: number): void
  onError(error: CpError): void
}

const IDLE_MS = 500
const INTENT_SECONDS = 2
const DUE_MAX = 100
const COUNT_EVERY_MS = 5_000
const COMPARE_EVERY_MS = 30_000
const COMPARE_PAGE = 500
export const ACTOR = 'control_plane'

const ENDS = {
  resume: { action: 'resume', reason: 'the pause is over' },
  deactivate: { action: 'deactivate', reason: 'drained: nothing is in flight' },
  expire: { action: 'deactivate', reason: 'the time of the drain is over' },
} as const

export function createLifecycleTimer(deps: LifecycleTimerDeps): PollLoop {
  const { db } = deps.databases.cluster
  let countAt = 0
  let compareAt = deps.clock.monotonic() + COMPARE_EVERY_MS
  let comparedUpTo = '0'

  async function serve(due: DueRow): Promise<void> {
    const id = due.subscription_id
    if (due.need === 'intent') await withoutIntent(deps, await getSubscription(db, id))
    else if (due.need === 'describe') await describeSubscription(deps, id)
    else {
      await changeSubscription(deps, { id, ...ENDS[due.need], actor: ACTOR, ifVersion: due.version })
    }
  }

  /** What the log watch was not told of, for whatever reason. */
  async function compare(): Promise<void> {
    const page = await pageOfLive(db, comparedUpTo, COMPARE_PAGE)
    comparedUpTo = page.length < COMPARE_PAGE ? '0' : page[page.length - 1]!.subscription_id
    if (comparedUpTo === '0') compareAt = deps.clock.monotonic() + COMPARE_EVERY_MS
    if (page.length === 0) return
    const byId = new Map(page.map((row) => [row.subscription_id, row]))
    const { answers } = await deps.databases.fanOut((shardDb, shard) =>
      newestLifecycle(
        shardDb,
        [...byId.keys()].filter((id) => deps.databases.shardOf(id) === shard),
      ),
    )
    for (const newest of answers.flatMap((answer) => answer.value)) {
      const known = byId.get(newest.subscription_id)?.last_event_id ?? '0'
      if (compareIds(newest.event_id, known) > 0) await followSubscription(deps, newest.subscription_id)
    }
  }

  async function pass(): Promise<'busy' | 'idle'> {
    const due = await listDue(db, INTENT_SECONDS, DUE_MAX)
    for (const row of due) {
      try {
        await serve(row)
      } catch (error) {
        // One that cannot be helped now must not keep the others waiting.
        deps.onError(toCpError(error))
      }
    }
    if (deps.clock.monotonic() >= compareAt) await compare()
    if (deps.clock.monotonic() >= countAt) {
      countAt = deps.clock.monotonic() + COUNT_EVERY_MS
      deps.onCounts(await countSubscriptions(db), await countDead(db))
    }
    return 'idle'
  }

  return createPollLoop({
    name: 'subscription lifecycle',
    clock: deps.clock,
    random: deps.random,
    idleMs: IDLE_MS,
    errorMs: 500,
    errorMsMax: 10_000,
    onError: deps.onError,
    runOnce: pass,
  })
}
