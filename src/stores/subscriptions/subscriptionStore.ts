// The read model of subscriptions, in the cluster database.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { storableText } from '../../domain/events/storableText.js'
import type { JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import type { ShownState } from '../../domain/subscriptions/subscription.js'

const q = queries(
  'subscription_get',
  'subscription_by_path',
  'subscription_by_listener',
  'subscription_newer',
  'subscription_insert',
  'subscription_intend',
  'subscription_apply',
  'subscription_abandon',
  'subscription_adopt',
  'subscription_describe',
  'subscription_trouble',
  'subscription_list',
  'subscription_list_oldest',
  'subscription_count',
  'subscription_pulse',
  'subscription_due',
  'subscription_live_page',
  'subscription_live_pull',
  'subscription_listeners',
  'subscription_listeners_recent',
  'subscription_troubled',
  'subscription_suspicious',
  'subscription_forgettable',
  'subscription_forget',
)

export interface SubscriptionRow {
  subscription_id: string
  path: string
  catalog_id: string
  catalog_version: number | null
  mode: 'pull' | 'push' | null
  source: string | null
  /** Somebody else's runtime delivers it. */
  external: boolean
  listener: string | null
  spec: JsonObject
  state: ShownState
  live: boolean
  version: string
  epoch: string
  pending: JsonObject | null
  reason: string | null
  actor: string | null
  paused_until: string | null
  last_event_type: string | null
  last_event_id: string | null
  updated_at: string | null
  owner: string | null
  is_owned: boolean
  /** Of the owner; one that is over tells since when nobody drives it. */
  lease_until: string | null
  trouble: string | null
}

/** What the catalog entry says, as the row keeps it. */
export interface SubscriptionEntry {
  catalogId: string
  catalogVersion: number | null
  mode: 'pull' | 'push' | null
  source: string | null
  external: boolean
  listener: string | null
  spec: JsonObject
}

export async function getSubscription(db: Queryable, id: string): Promise<SubscriptionRow | undefined> {
  const [row] = await db.run<SubscriptionRow>(q.subscription_get, [id])
  return row
}

export async function findByPath(db: Queryable, path: string): Promise<SubscriptionRow | undefined> {
  const [row] = await db.run<SubscriptionRow>(q.subscription_by_path, [path])
  return row
}

export async function findByListener(db: Queryable, listener: string): Promise<SubscriptionRow | undefined> {
  const [row] = await db.run<SubscriptionRow>(q.subscription_by_listener, [listener])
  return row
}

export async function findNewer(db: Queryable, path: string, id: string): Promise<string | undefined> {
  const [row] = await db.run<{ subscription_id: string }>(q.subscription_newer, [path, id])
  return row?.subscription_id
}

export async function insertSubscription(
  db: Queryable,
  row: { id: string; path: string; entry: SubscriptionEntry; pending: JsonObject },
): Promise<boolean> {
  const { entry } = row
  const rows = await db.run(q.subscription_insert, [
    row.id,
    row.path,
    entry.catalogId,
    entry.catalogVersion,
    entry.mode,
    entry.source,
    entry.external,
    entry.listener,
    writeJson(entry.spec),
    writeJson(row.pending),
  ])
  return rows.length === 1
}

export async function intendChange(
  db: Queryable,
  change: { id: string; version: string; pending: JsonObject; listener: string | null },
): Promise<boolean> {
  const rows = await db.run(q.subscription_intend, [
    change.id,
    change.version,
    writeJson(change.pending),
    change.listener,
  ])
  return rows.length === 1
}

export interface AppliedChange {
  id: string
  eventId: string
  state: ShownState
  /** 1 when the right to start executions ends or changes hands. */
  epochs: number
  entry: Omit<SubscriptionEntry, 'listener'>
  reason: string | null
  actor: string | null
  until: string | null
  lastEventId: string | null
  lastEventType: string | null
  updatedAt: string | null
}

export async function applyChange(db: Queryable, change: AppliedChange): Promise<boolean> {
  const rows = await db.run(q.subscription_apply, [
    change.id,
    change.eventId,
    change.state,
    change.epochs,
    change.entry.catalogId,
    change.entry.catalogVersion,
    change.entry.mode,
    change.entry.source,
    writeJson(change.entry.spec),
    change.reason,
    change.actor,
    change.until,
    change.lastEventId,
    change.lastEventType,
    change.updatedAt,
    change.entry.external,
  ])
  return rows.length === 1
}

export async function abandonChange(db: Queryable, id: string, eventId: string): Promise<void> {
  await db.run(q.subscription_abandon, [id, eventId])
}

export interface LoggedState {
  id: string
  state: ShownState
  catalogId: string
  eventId: string
  eventType: string
  at: string
  reason: string | null
  actor: string | null
  until: string | null
}

export async function adoptState(db: Queryable, version: string, logged: LoggedState): Promise<boolean> {
  const rows = await db.run(q.subscription_adopt, [logged.id, version, logged.state, ...eventValues(logged)])
  return rows.length === 1
}

/** As several statements take them. */
export function eventValues(logged: LoggedState): (string | null)[] {
  return [logged.eventId, logged.eventType, logged.at, logged.reason, logged.actor, logged.until]
}

export async function describeRow(db: Queryable, id: string, entry: SubscriptionEntry): Promise<void> {
  await db.run(q.subscription_describe, [
    id,
    entry.catalogVersion,
    entry.mode,
    entry.source,
    entry.listener,
    writeJson(entry.spec),
    entry.external,
  ])
}

export async function setTrouble(db: Queryable, id: string, trouble: string | null): Promise<void> {
  await db.run(q.subscription_trouble, [id, trouble === null ? null : storableText(trouble)])
}

export interface SubscriptionFilter {
  state: string | null
  pathPattern: string | null
  mode: string | null
  /** The last id of the page before. */
  cursor: string | null
  limit: number
  order: 'newest' | 'oldest'
}

export function listSubscriptions(db: Queryable, filter: SubscriptionFilter): Promise<SubscriptionRow[]> {
  const query = filter.order === 'newest' ? q.subscription_list : q.subscription_list_oldest
  return db.run<SubscriptionRow>(query, [filter.state, filter.pathPattern, filter.mode, filter.cursor, filter.limit])
}

export async function countSubscriptions(db: Queryable): Promise<Map<string, number>> {
  const rows = await db.run<{ state: string; count: number }>(q.subscription_count)
  return new Map(rows.map((row) => [row.state, row.count]))
}

/** Another text whenever one of them has changed. */
export async function subscriptionPulse(db: Queryable): Promise<string> {
  const [row] = await db.run<{ pulse: string }>(q.subscription_pulse)
  return row!.pulse
}

export interface DueRow {
  subscription_id: string
  /** `expire`: the time of a drain is over. */
  need: 'intent' | 'resume' | 'deactivate' | 'expire' | 'describe'
  version: string
}

export function listDue(db: Queryable, intentSeconds: number, limit: number): Promise<DueRow[]> {
  return db.run<DueRow>(q.subscription_due, [intentSeconds, limit])
}

export interface LiveRow {
  subscription_id: string
  version: string
  last_event_id: string | null
}

export function pageOfLive(db: Queryable, after: string, limit: number): Promise<LiveRow[]> {
  return db.run<LiveRow>(q.subscription_live_page, [after, limit])
}

/** Newest first. */
export function listLivePull(db: Queryable, limit: number): Promise<SubscriptionRow[]> {
  return db.run<SubscriptionRow>(q.subscription_live_pull, [limit])
}

/** Active listeners of ours, and those with a trouble that may be over; in id order. */
export function listListeners(db: Queryable, after: string, limit: number): Promise<SubscriptionRow[]> {
  return db.run<SubscriptionRow>(q.subscription_listeners, [after, limit])
}

export function listRecentListeners(db: Queryable, limit: number): Promise<SubscriptionRow[]> {
  return db.run<SubscriptionRow>(q.subscription_listeners_recent, [limit])
}

export interface TroubledRow {
  subscription_id: string
  path: string
  trouble: string
}

export function listTroubled(db: Queryable, limit: number): Promise<TroubledRow[]> {
  return db.run<TroubledRow>(q.subscription_troubled, [limit])
}

export interface SuspiciousRow {
  subscription_id: string
  path: string
  actor: string | null
  trouble: string | null
  external: boolean
  suspicion: 'trouble' | 'paused' | 'draining' | 'undriven' | 'superseded'
  /** Since its last change. */
  seconds: number
}

/** Limits in seconds. */
export function listSuspicious(
  db: Queryable,
  limits: { paused: number; draining: number; undriven: number },
  count: number,
): Promise<SuspiciousRow[]> {
  return db.run<SuspiciousRow>(q.subscription_suspicious, [limits.paused, limits.draining, limits.undriven, count])
}

/** Deactivated before a time and needed by nobody, or without a row already. */
export async function forgettableSubscriptions(
  db: Queryable,
  ids: readonly string[],
  before: string,
): Promise<string[]> {
  const rows = await db.run<{ subscription_id: string }>(q.subscription_forgettable, [ids, before])
  return rows.map((row) => row.subscription_id)
}

/** Removes their rows; answers the ids that have none any more. */
export async function forgetSubscriptions(db: Queryable, ids: readonly string[], before: string): Promise<string[]> {
  await db.run(q.subscription_forget, [ids, before])
  const left = await Promise.all(ids.map(async (id) => ((await getSubscription(db, id)) === undefined ? [id] : [])))
  return left.flat()
}
