// Brings the rows of subscriptions up to date with their logs: finishes intents, takes over state changes that others
// have written, and makes rows for ids that others have registered. Safe to repeat and to run in several daemons at
// once.
import type { Db } from '../../db/db.js'
import { compareIds } from '../../domain/ids/ids.js'
import { CpError, toCpError } from '../../errors.js'
import { LruMap } from '../../runtime/lruMap.js'
import { deleteNews, listNews, unadoptedLogs } from '../../stores/subscriptions/subscriptionLogStore.js'
import { pathsOf } from '../../stores/subscriptions/subscriptionPathStore.js'
import { adoptState, getSubscription, type SubscriptionRow } from '../../stores/subscriptions/subscriptionStore.js'
import { describeSubscription } from './describe.js'
import { completeIntent, type LifecycleDeps } from './intent.js'
import { loggedStates } from './loggedState.js'
import { writePath } from './pathRows.js'

export type FollowingDeps = Pick<LifecycleDeps, 'databases' | 'appender' | 'clock' | 'documents'>

// Every round that fails means that somebody else got further.
const ROUNDS_MAX = 200
const PAGE = 500
const BEFORE_ALL = '-9223372036854775808'
const TROUBLED_PAUSE_MS = 5_000
const REMEMBERED_MAX = 10_000

/** The row without an open intent: finishes one that is there. */
export async function withoutIntent(
  deps: FollowingDeps,
  row: SubscriptionRow | undefined,
): Promise<SubscriptionRow | undefined> {
  let current = row
  for (let round = 0; round < ROUNDS_MAX && current?.pending != null; round++) {
    await completeIntent(deps, current)
    current = await getSubscription(deps.databases.cluster.db, current.subscription_id)
  }
  return current
}

/** Takes over what others have written into the log by themselves; undefined when the row changed meanwhile. */
export async function followLog(
  deps: FollowingDeps,
  row: SubscriptionRow | undefined,
): Promise<SubscriptionRow | undefined> {
  if (row === undefined || row.pending !== null) return undefined
  const id = row.subscription_id
  const [logged] = await loggedStates(deps.databases.of(id), [id])
  if (logged === undefined || compareIds(logged.eventId, row.last_event_id ?? '0') <= 0) return row
  await adoptState(deps.databases.cluster.db, row.version, logged)
  return undefined
}

/** The row as its log has it, made if there is none. */
export async function followSubscription(deps: FollowingDeps, id: string): Promise<void> {
  const { db } = deps.databases.cluster
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const row = await withoutIntent(deps, await getSubscription(db, id))
    if (row === undefined) return adopt(deps, id)
    if ((await followLog(deps, row)) !== undefined) return
  }
  throw new CpError('overloaded', `subscription ${id} is being changed by many at once; its log is followed later`)
}

async function adopt(deps: FollowingDeps, id: string): Promise<void> {
  const { db } = deps.databases.cluster
  const read = () => loggedStates(deps.databases.of(id), [id])
  const found = await read()
  const path = (await pathsOf(db, found)).get(id)
  if (path === undefined) return
  await writePath(db, path, read)
  await describeSubscription(deps, id)
}

/** What one who looks for news again and again remembers. */
export interface NewsMemory {
  /** How far each shard was looked through for events that nobody has numbered. */
  readonly positions: Map<number, string>
  /** The newest of these that were followed: numbering them is somebody else's work and may take a while. */
  readonly followed: LruMap<string, string>
  readonly troubledUntil: LruMap<string, number>
}

export const newsMemory = (): NewsMemory => ({
  positions: new Map(),
  followed: new LruMap({ entriesMax: REMEMBERED_MAX }),
  troubledUntil: new LruMap({ entriesMax: REMEMBERED_MAX }),
})

export interface FollowedNews {
  ids: string[]
  hasMore: boolean
  failures: CpError[]
}

/** One page of what is new in the logs of every shard. */
export async function followNews(deps: FollowingDeps, memory: NewsMemory = newsMemory()): Promise<FollowedNews> {
  const result: FollowedNews = { ids: [], hasMore: false, failures: [] }
  const { failures } = await deps.databases.fanOut((db, shard) => followShard(deps, db, shard, memory, result))
  result.failures.push(...failures.map(({ error }) => error))
  return result
}

async function followShard(
  deps: FollowingDeps,
  db: Db,
  shard: number,
  memory: NewsMemory,
  result: FollowedNews,
): Promise<void> {
  const [news, unadopted] = await Promise.all([
    listNews(db, PAGE),
    unadoptedLogs(db, memory.positions.get(shard) ?? BEFORE_ALL, PAGE),
  ])
  const done = new Set<string>()
  const ids = new Set(news.map((note) => note.subscription_id))
  for (const log of unadopted) {
    if (memory.followed.get(log.subscription_id) !== log.event_id) ids.add(log.subscription_id)
  }
  for (const id of ids) {
    if (await followOne(deps, id, memory, result)) done.add(id)
  }
  const finished = news.filter((note) => done.has(note.subscription_id)).map((note) => note.news_id)
  if (finished.length > 0) await deleteNews(db, finished)
  for (const log of unadopted) if (done.has(log.subscription_id)) memory.followed.set(log.subscription_id, log.event_id)
  const isPageFull = unadopted.length === PAGE
  memory.positions.set(shard, isPageFull ? unadopted[PAGE - 1]!.subscription_id : BEFORE_ALL)
  if (isPageFull || (news.length === PAGE && finished.length > 0)) result.hasMore = true
}

/** One that cannot be followed now must not keep the others waiting, nor be asked for all the time. */
async function followOne(
  deps: FollowingDeps,
  id: string,
  { troubledUntil }: NewsMemory,
  result: FollowedNews,
): Promise<boolean> {
  if ((troubledUntil.get(id) ?? 0) > deps.clock.monotonic()) return false
  try {
    await followSubscription(deps, id)
    troubledUntil.delete(id)
    result.ids.push(id)
    return true
  } catch (error) {
    troubledUntil.set(id, deps.clock.monotonic() + TROUBLED_PAUSE_MS)
    const { code, message } = toCpError(error)
    result.failures.push(
      new CpError(code, `the log of subscription ${id} cannot be followed: ${message}`, { cause: error }),
    )
    return false
  }
}
