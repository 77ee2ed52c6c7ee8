// Row and log may lie in different databases, so a change is first noted on the row as an intent, complete with
// the id of its event; then the event is appended under the lock of the subscription's log; then the row is
// changed. Whoever finds an intent finishes it, and finishing it twice writes nothing twice. A crash between
// any two steps leaves an intent for the next caller or the lifecycle timer. See docs/decisions/0004-subscriptions.md.
import type { Databases } from '../../db/databases.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { type WireTime, wireTimeFromMillis } from '../../domain/events/wireTime.js'
import type { CatalogId, EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import type { OwnSources } from '../../domain/subscriptions/ownSources.js'
import { lifecycleStatusOf, type ShownState } from '../../domain/subscriptions/subscription.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { findExisting, highestEventIds } from '../../stores/events/eventStore.js'
import { lockExecutions } from '../../stores/executions/executionStore.js'
import { hasMoved } from '../../stores/subscriptions/subscriptionLogStore.js'
import {
  abandonChange,
  applyChange,
  type SubscriptionEntry,
  type SubscriptionRow,
} from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import type { Appender } from '../events/appender.js'
import type { Ids } from '../ids/ids.js'

export interface LifecycleDeps {
  databases: Databases
  documents: CatalogDocuments
  appender: Appender
  ids: Pick<Ids, 'next' | 'above'>
  clock: Clock
  /** What no subscription may read. */
  own: OwnSources
  onLifecycle?(step: LifecycleStep): void
}

/** What became of a request; `from` is null for a new one, and the same as `to` when only the entry changed or nothing. */
export interface LifecycleStep {
  outcome: 'registered' | 'reused' | 'updated' | 'transition'
  subscription: string
  path: string
  from: ShownState | null
  to: ShownState
}

/** Not one of the six: a live subscription has picked up another version of its entry. */
export const SUBSCRIPTION_UPDATED = 'subscription.updated'

export interface Intent {
  eventId: string
  eventType: string
  /** The state once it is applied. */
  state: ShownState
  at: WireTime
  reason: string | null
  actor: string | null
  until: WireTime | null
  /** Set when the entry changes, too. */
  entry: SubscriptionEntry | null
}

/** The newest event by id decides the state, so a new one must be above all that the log holds, whoever wrote it. */
async function mintAfterLog(deps: LifecycleDeps, subscriptionId: string | undefined): Promise<string> {
  const id = deps.ids.next()
  if (subscriptionId === undefined) return id
  const db = deps.databases.of(subscriptionId)
  const highest = (await highestEventIds(db, [subscriptionId])).get(subscriptionId)
  return highest === undefined || BigInt(id) > highest ? id : deps.ids.above(highest)
}

export async function makeIntent(
  deps: LifecycleDeps,
  row: Pick<SubscriptionRow, 'subscription_id'> | undefined,
  change: Omit<Intent, 'eventId' | 'at'>,
): Promise<Intent> {
  const eventId = await mintAfterLog(deps, row?.subscription_id)
  return { ...change, eventId, at: wireTimeFromMillis(deps.clock.now()) }
}

export function writeIntent(intent: Intent): JsonObject {
  return {
    event_id: intent.eventId,
    event_type: intent.eventType,
    state: intent.state,
    at: intent.at,
    reason: intent.reason,
    actor: intent.actor,
    until: intent.until,
    entry: intent.entry === null ? null : { ...intent.entry },
  }
}

function readIntent(pending: JsonObject): Intent {
  return {
    eventId: pending['event_id'] as string,
    eventType: pending['event_type'] as string,
    state: pending['state'] as ShownState,
    at: pending['at'] as WireTime,
    reason: pending['reason'] as string | null,
    actor: pending['actor'] as string | null,
    until: pending['until'] as WireTime | null,
    entry: readEntry(pending['entry'] as SubscriptionEntry | null),
  }
}

/** One that an older version noted does not say who delivers; only ours could be activated then. */
function readEntry(entry: SubscriptionEntry | null): SubscriptionEntry | null {
  return entry === null ? null : { ...entry, external: entry.external ?? false }
}

/** `abandoned`: the log has moved on under the decision, which must be made again. */
export async function completeIntent(
  deps: Pick<LifecycleDeps, 'databases' | 'appender'>,
  row: SubscriptionRow,
): Promise<'done' | 'abandoned'> {
  if (row.pending === null) return 'done'
  const intent = readIntent(row.pending)
  const id = row.subscription_id
  const isInLog = await deps.appender.appendWith(id, async (tx, append) => {
    await lockExecutions(tx, [id])
    if ((await findExisting(tx, [{ executionId: id, eventId: intent.eventId }])).length > 0) return true
    if (await hasMoved(tx, id, row.last_event_id ?? '0')) return false
    // Somebody else has written since the id was minted; it would sort before that.
    const highest = (await highestEventIds(tx, [id])).get(id)
    if (highest !== undefined && highest >= BigInt(intent.eventId)) return false
    const [outcome] = await append([
      { event: eventOf(row, intent), idGiven: true, publish: true, createExecution: true, path: row.path },
    ])
    if (outcome?.kind === 'stored' || outcome?.kind === 'duplicate') return true
    if (outcome?.kind === 'refused') throw new CpError('refused', outcome.reason)
    throw new CpError('corrupt', `event ${intent.eventId} of subscription ${id} exists with other content`)
  })
  const db = deps.databases.cluster.db
  if (!isInLog) {
    await abandonChange(db, id, intent.eventId)
    return 'abandoned'
  }
  const isLifecycle = lifecycleStatusOf(intent.eventType) !== undefined
  await applyChange(db, {
    id,
    eventId: intent.eventId,
    state: intent.state,
    // While draining, what is held may still be started.
    epochs: isLifecycle && intent.state !== 'DRAINING' ? 1 : 0,
    entry: intent.entry ?? {
      catalogId: row.catalog_id,
      catalogVersion: row.catalog_version,
      mode: row.mode,
      source: row.source,
      external: row.external,
      spec: row.spec,
    },
    reason: isLifecycle ? intent.reason : row.reason,
    actor: isLifecycle ? intent.actor : row.actor,
    until: isLifecycle ? intent.until : row.paused_until,
    lastEventId: isLifecycle ? intent.eventId : row.last_event_id,
    lastEventType: isLifecycle ? intent.eventType : row.last_event_type,
    updatedAt: isLifecycle ? intent.at : row.updated_at,
  })
  return 'done'
}

/** The same row and intent give the same event, byte for byte. */
function eventOf(row: SubscriptionRow, intent: Intent): EventRecord {
  const catalogId = intent.entry?.catalogId ?? row.catalog_id
  const isLifecycle = lifecycleStatusOf(intent.eventType) !== undefined
  const meta: JsonObject = { emitted_at: intent.at, emitter: 'control_plane', subscription_lifecycle: isLifecycle }
  if (intent.reason !== null) meta['reason'] = intent.reason
  if (intent.actor !== null) meta['actor'] = intent.actor
  if (intent.until !== null) meta['until'] = intent.until
  return {
    executionId: row.subscription_id as ExecutionId,
    eventId: intent.eventId as EventId,
    catalogId: catalogId as CatalogId,
    eventType: intent.eventType,
    nodeId: 'subscription',
    nodeName: row.path,
    nodeType: 'subscription',
    status: intent.state,
    context: { subscription_id: row.subscription_id, path: row.path, catalog_id: catalogId },
    meta,
    createdAt: intent.at,
    createdAtGiven: true,
  }
}
