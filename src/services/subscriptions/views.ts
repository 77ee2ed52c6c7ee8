// Reading subscriptions: one of them, a page, the history in the log, what waits in the source.

import type { Bus } from '../../bus/connect.js'
import { type ConsumerCounts, consumerCounts } from '../../bus/sourceCounts.js'
import { missingStream } from '../../bus/sourceSetup.js'
import type { Databases } from '../../db/databases.js'
import { wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { allowedActions } from '../../domain/subscriptions/subscription.js'
import { CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import {
  type HistoryRange,
  type HistoryRow,
  lifecycleHistory,
} from '../../stores/subscriptions/subscriptionLogStore.js'
import {
  listSubscriptions,
  listTroubled,
  type SubscriptionFilter,
  type SubscriptionRow,
  type TroubledRow,
} from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import { entryOf, natsSourceOf } from './entry.js'
import { findSubscription } from './lifecycle.js'
import { durableOf } from './naming.js'

export type { SubscriptionFilter, TroubledRow } from '../../stores/subscriptions/subscriptionStore.js'

export interface ViewDeps {
  databases: Databases
  documents: CatalogDocuments
  bus: Bus | undefined
  clock: Clock
}

export interface SubscriptionPage {
  rows: SubscriptionRow[]
  /** Where the next page begins; undefined at the end. */
  next: string | undefined
}

const PAGE = 10_000

/** Every one in its order, as many as fit into so many bytes; one query per 10,000. */
export async function subscriptionsWithin(
  deps: { databases: Databases },
  filter: SubscriptionFilter,
  written: (row: SubscriptionRow) => JsonObject,
  bytesMax: number,
): Promise<{ subscriptions: JsonObject[]; next: string | undefined }> {
  const subscriptions: JsonObject[] = []
  let bytes = 0
  let { cursor } = filter
  for (;;) {
    const limit = Math.min(PAGE, filter.limit - subscriptions.length)
    const { rows, next } = await pageOfSubscriptions(deps, { ...filter, cursor, limit })
    for (const row of rows) {
      const one = written(row)
      bytes += Buffer.byteLength(writeJson(one)) + 1
      // Beyond the budget at least one, or nobody would ever get further.
      if (bytes > bytesMax && subscriptions.length > 0) return { subscriptions, next: cursor ?? undefined }
      subscriptions.push(one)
      cursor = row.subscription_id
    }
    if (next === undefined || subscriptions.length >= filter.limit) return { subscriptions, next }
  }
}

/** One query, whatever the number of shards. */
export async function pageOfSubscriptions(
  deps: { databases: Databases },
  filter: SubscriptionFilter,
): Promise<SubscriptionPage> {
  const found = await listSubscriptions(deps.databases.cluster.db, { ...filter, limit: filter.limit + 1 })
  const rows = found.slice(0, filter.limit)
  return { rows, next: found.length > filter.limit ? rows[rows.length - 1]!.subscription_id : undefined }
}

/** Live ones that do not deliver, newest first, each with what its runtime says. */
export function troubledSubscriptions(deps: { databases: Databases }, limit: number): Promise<TroubledRow[]> {
  return listTroubled(deps.databases.cluster.db, limit)
}

export interface HistoryItem {
  eventId: string
  eventType: string
  state: string | null
  catalogId: string
  at: string
  reason: string | null
  actor: string | null
  until: string | null
}

/** As routes and commands show it. */
export function shownHistoryItem(item: HistoryItem) {
  return {
    event_id: item.eventId,
    event_type: item.eventType,
    state: item.state,
    catalog_id: item.catalogId,
    at: item.at,
    reason: item.reason,
    actor: item.actor,
    until: item.until,
  }
}

export async function historyOf(
  deps: { databases: Databases },
  id: string,
  range: HistoryRange = {},
): Promise<HistoryItem[]> {
  await findSubscription(deps, id)
  return (await lifecycleHistory(deps.databases.of(id), id, range)).map(toItem)
}

function toItem(row: HistoryRow): HistoryItem {
  const meta = isJsonObject(row.meta) ? row.meta : {}
  const text = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null)
  return {
    eventId: row.event_id,
    eventType: row.event_type,
    state: row.status,
    catalogId: row.catalog_id,
    at: wireTimeFromPostgres(row.created_at, 'created_at'),
    reason: text(meta['reason']),
    actor: text(meta['actor']),
    until: text(meta['until']),
  }
}

/** The NoETL server's status object, nothing more. */
export function statusOf(row: SubscriptionRow): JsonObject {
  const status: JsonObject = {
    subscription_id: row.subscription_id,
    path: row.path,
    catalog_id: row.catalog_id,
    state: row.state,
    last_event_type: row.last_event_type ?? 'subscription.registered',
  }
  if (row.updated_at !== null) status['updated_at'] = wireTimeFromPostgres(row.updated_at, 'updated_at')
  return status
}

export function verboseStatusOf(row: SubscriptionRow): JsonObject {
  return {
    ...statusOf(row),
    allowed_actions: allowedActions(row.state),
    version: row.version,
    catalog_version: row.catalog_version,
    mode: row.mode,
    source: row.source,
    driver: row.external ? 'external' : 'control_plane',
    listener: row.listener,
    reason: row.reason,
    actor: row.actor,
    paused_until: row.paused_until === null ? null : wireTimeFromPostgres(row.paused_until, 'paused_until'),
    runtime: row.is_owned ? row.owner : null,
    lease_owner: row.owner,
    lease_until: row.lease_until === null ? null : wireTimeFromPostgres(row.lease_until, 'lease_until'),
    trouble: row.trouble,
    spec: row.spec,
  }
}

export interface Backlog extends ConsumerCounts {
  subscriptionId: string
  state: string
  /** How long the oldest message without an acknowledgement has waited; null when none does. */
  oldestSeconds: number | null
}

/** What waits in the source and what was handed out without an answer yet; nothing ever waits in front of a webhook. */
export async function backlogOf(deps: ViewDeps, id: string): Promise<Backlog> {
  return backlogOfRow(deps, await findSubscription(deps, id))
}

export async function backlogOfRow(deps: ViewDeps, row: SubscriptionRow): Promise<Backlog> {
  const about = { subscriptionId: row.subscription_id, state: row.state }
  const { spec } = await entryOf(deps, row.catalog_id)
  if (spec.mode === 'push') return { ...about, ...NOTHING }
  if (spec.driver === 'external') {
    throw new CpError('refused', `${row.path} is delivered by a runtime of its own; its backlog is not known here`)
  }
  if (deps.bus === undefined) throw new CpError('unavailable', 'no NATS is configured; set NOETL_NATS_URL')
  const source = natsSourceOf(row.path, spec)
  const counts = await consumerCounts(deps.bus.connection(), source, durableOf(row.path, source))
  const { oldestAt } = counts
  return { ...about, ...counts, oldestSeconds: oldestAt === undefined ? null : secondsSince(deps.clock, oldestAt) }
}

const NOTHING = { pending: 0, ackPending: 0, redelivered: 0, exists: true, oldestAt: undefined, oldestSeconds: null }

/** By the broker's clock for the one end and ours for the other: good enough to see a backlog grow old. */
function secondsSince(clock: Clock, at: Date): number {
  return Math.max(0, Math.round((clock.now() - at.getTime()) / 100) / 10)
}

/** For views that show more than the backlog: trouble with the source is told, not thrown. */
export async function backlogOrTrouble(deps: ViewDeps, row: SubscriptionRow): Promise<Backlog | BacklogTrouble> {
  try {
    return await backlogOfRow(deps, row)
  } catch (error) {
    const missing = await missingSource(deps, row)
    return { trouble: missing ?? toCpError(error).message, isMissing: missing !== undefined }
  }
}

export interface BacklogTrouble {
  trouble: string
  /** The source is not there, yet: what a subscription that is only registered may well wait for. */
  isMissing: boolean
}

async function missingSource(deps: ViewDeps, row: SubscriptionRow): Promise<string | undefined> {
  if (deps.bus === undefined || row.mode !== 'pull' || row.external) return undefined
  try {
    const { spec } = await entryOf(deps, row.catalog_id)
    return await missingStream(deps.bus.connection(), natsSourceOf(row.path, spec))
  } catch {
    // Something else is wrong with it, which the error that led here says.
    return undefined
  }
}
