// POST /api/events and /api/events/batch: normalise, find the catalog entry of a start event, append, answer
// per item. The write is done when this returns; what follows from it happens elsewhere.

import type { Databases } from '../../db/databases.js'
import { canonicalEventType, isStartEventType } from '../../domain/events/eventType.js'
import { type EventDefaults, type NormalisedEvent, normaliseEvent } from '../../domain/events/normaliseEvent.js'
import { type WireTime, wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import { type EventId, parseExecutionId } from '../../domain/ids/ids.js'
import { aheadMs } from '../../domain/ids/snowflake.js'
import type { Schema } from '../../domain/json/schema.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { isolateRefused } from '../../runtime/isolateRefused.js'
import { type Span, traced } from '../../runtime/tracing.js'
import type { LargeBodies } from '../bodies/largeBodies.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertNoSubscriptionEntry } from '../catalog/runnable.js'
import type { ClaimEvents } from '../commands/claimEvents.js'
import type { Ids } from '../ids/ids.js'
import type { Appender } from './appender.js'
import type { AppendItem, AppendOutcome, Unclaimable } from './appendInTx.js'
import { appendOnce } from './appendOnce.js'
import { toRecords } from './largeEventReading.js'
import { claimOf } from './lookUp.js'

export interface IngestDeps {
  databases: Databases
  appender: Appender
  ids: Pick<Ids, 'next' | 'databaseNow'>
  clock: Clock
  large: Pick<LargeBodies, 'readEvents'>
  /** Holds claims to pauses and limits; without it nothing does. */
  appendClaims?: ClaimEvents | undefined
}

/** A body that the main loop does not read itself, and what it must obey. */
export interface LargeBody {
  bytes: Uint8Array
  schema: Schema
}

export interface IngestOptions {
  traceContext?: string | undefined
  /** The caller has the internal token: what is ours alone is not kept from it. */
  isInternal?: boolean | undefined
  /** The same key and execution again is the same request. */
  idempotencyKey?: string | undefined
}

export function ingestEvent(deps: IngestDeps, body: JsonObject, options: IngestOptions = {}): Promise<AppendOutcome> {
  return traced('noetl.ingest', { parent: options.traceContext, inherit: true }, async (span) => {
    const event = normaliseEvent(body, defaults(deps))
    return appendOne(deps, event, options, span)
  })
}

export function ingestLargeEvent(
  deps: IngestDeps,
  body: LargeBody,
  options: IngestOptions = {},
): Promise<AppendOutcome> {
  return traced('noetl.ingest', { parent: options.traceContext, inherit: true }, async (span) => {
    const read = await deps.large.readEvents({ ...body, isBatch: false, now: nowOf(deps) })
    const [event] = await toRecords(read, minting(deps))
    return appendOne(deps, event!, options, span)
  })
}

async function appendOne(
  deps: IngestDeps,
  event: NormalisedEvent,
  options: IngestOptions,
  span: Span,
): Promise<AppendOutcome> {
  span.set({ 'noetl.execution_id': event.executionId, 'noetl.event_type': event.eventType, 'noetl.events': 1 })
  const item = await toItem(deps, event, { ...options, traceContext: span.carrier })
  const [outcome] = await append(deps, [item], options)
  return acceptedOrThrow(outcome!)
}

/** One execution, many events, one transaction. A malformed item refuses the batch before anything is written. */
export function ingestBatch(deps: IngestDeps, body: JsonObject, options: IngestOptions = {}): Promise<AppendOutcome[]> {
  return traced('noetl.ingest', { parent: options.traceContext, inherit: true }, (span) => {
    span.set({
      'noetl.execution_id': String(body['execution_id']),
      'noetl.events': (body['events'] as JsonValue[]).length,
    })
    const events = eventsOf(deps, body)
    return appendBatch(deps, parseExecutionId(body['execution_id']), events, { ...options, traceContext: span.carrier })
  })
}

export function ingestLargeBatch(
  deps: IngestDeps,
  body: LargeBody,
  options: IngestOptions = {},
): Promise<AppendOutcome[]> {
  return traced('noetl.ingest', { parent: options.traceContext, inherit: true }, async (span) => {
    const read = await deps.large.readEvents({ ...body, isBatch: true, now: nowOf(deps) })
    span.set({ 'noetl.execution_id': read.executionId, 'noetl.events': read.count })
    const events = await toRecords(read, minting(deps))
    return appendBatch(deps, read.executionId, events, { ...options, traceContext: span.carrier })
  })
}

function eventsOf(deps: IngestDeps, body: JsonObject): NormalisedEvent[] {
  const executionId = parseExecutionId(body['execution_id'], '/execution_id')
  const workerId = typeof body['worker_id'] === 'string' ? body['worker_id'] : undefined
  const list = body['events'] as JsonValue[]
  const shared = { ...defaults(deps), executionId, workerId, actionable: false }
  return list.map((entry, index) => {
    if (!isJsonObject(entry)) throw new CpError('invalid_input', `/events/${index} must be an object`)
    return normaliseEvent(entry, { ...shared, at: `/events/${index}` })
  })
}

async function appendBatch(
  deps: IngestDeps,
  executionId: string,
  events: readonly NormalisedEvent[],
  options: IngestOptions,
): Promise<AppendOutcome[]> {
  const items: AppendItem[] = []
  for (const event of events) items.push(await toItem(deps, event, options))
  const outcomes = await append(deps, items, options)
  if (outcomes.some((outcome) => outcome.kind === 'unknownExecution')) throw noSuchExecution(executionId)
  // What holds for all of them is said once.
  if (outcomes.length > 0 && outcomes.every((outcome) => outcome.kind === 'refused')) acceptedOrThrow(outcomes[0]!)
  return outcomes
}

function append(
  { appender, appendClaims }: IngestDeps,
  items: AppendItem[],
  { idempotencyKey: key }: IngestOptions,
): Promise<AppendOutcome[]> {
  const write = (some: readonly AppendItem[]) =>
    key === undefined ? appender.append(some) : appendOnce(appender, some, key)
  const hasClaims = appendClaims !== undefined && items.some(({ event }) => claimOf(event) !== undefined)
  return hasClaims ? appendClaims(items, write) : write(items)
}

/**
 * Events of any executions, each judged on its own: what is refused is an error in its place, the others are
 * written in their order. One transaction per shard, or one per event when the data of one refuses that.
 */
export async function ingestMany(deps: IngestDeps, bodies: readonly JsonValue[]): Promise<(AppendOutcome | CpError)[]> {
  const results: (AppendOutcome | CpError)[] = new Array(bodies.length)
  const byShard = new Map<number, { index: number; item: AppendItem }[]>()
  for (const [index, body] of bodies.entries()) {
    try {
      if (!isJsonObject(body)) throw new CpError('invalid_input', 'an event must be an object')
      const item = await toItem(deps, normaliseEvent(body, defaults(deps)), {})
      const shard = deps.databases.shardOf(item.event.executionId)
      const group = byShard.get(shard)
      if (group === undefined) byShard.set(shard, [{ index, item }])
      else group.push({ index, item })
    } catch (error) {
      results[index] = toCpError(error)
    }
  }
  for (const group of byShard.values()) {
    const outcomes = await appendEach(
      deps,
      group.map(({ item }) => item),
    )
    for (const [position, { index }] of group.entries()) results[index] = outcomes[position]!
  }
  return results
}

async function appendEach(deps: IngestDeps, items: readonly AppendItem[]): Promise<(AppendOutcome | CpError)[]> {
  const outcomes = await isolateRefused(items, (some) => deps.appender.append(some))
  return outcomes.map((outcome) => {
    if (outcome instanceof CpError) return outcome
    try {
      return acceptedOrThrow(outcome)
    } catch (error) {
      return toCpError(error)
    }
  })
}

function defaults(deps: IngestDeps): EventDefaults {
  return { mintEventId: minting(deps), now: nowOf(deps) }
}

function minting({ ids }: IngestDeps): () => EventId {
  return () => ids.next() as EventId
}

function nowOf(deps: { clock: Clock }): WireTime {
  return wireTimeFromMillis(deps.clock.now())
}

const ID_AHEAD_MAX_MS = 3_600_000

/**
 * The log of a subscription is written by the control plane alone. And an id of the far future would stand above
 * everything that its execution ever does: it is refused if no layout makes it believable.
 */
function refuseWhatIsOurs(deps: IngestDeps, event: NormalisedEvent): void {
  if (canonicalEventType(event.eventType).startsWith('subscription.')) {
    throw new CpError(
      'refused',
      `${event.eventType} events are written by the control plane alone; change a subscription with "noetl-cp subscription" or its routes`,
    )
  }
  if (!event.eventIdGiven) return
  const ahead = aheadMs(BigInt(event.eventId), deps.ids.databaseNow())
  if (ahead <= ID_AHEAD_MAX_MS) return
  throw new CpError(
    'refused',
    `event_id ${event.eventId} lies ${Math.round(ahead / 60_000)} minutes ahead of the database's clock, more than an hour; correct the clock that minted it, or leave event_id out`,
    { details: { field: '/event_id' } },
  )
}

/** A start event must name a catalog entry that exists; every other event belongs to a known execution. */
async function toItem(deps: IngestDeps, event: NormalisedEvent, options: IngestOptions): Promise<AppendItem> {
  if (options.isInternal !== true) refuseWhatIsOurs(deps, event)
  const item: AppendItem = {
    event,
    idGiven: event.eventIdGiven,
    publish: true,
    createExecution: false,
    onlyExecutions: options.isInternal !== true,
    trace: options.traceContext,
  }
  if (!isStartEventType(event.eventType)) return item
  if (event.catalogId === undefined && event.catalogPath === undefined) {
    throw new CpError('refused', `a ${event.eventType} event must name its catalog entry: catalog_id or path`)
  }
  const entry = await findEntry(deps, {
    catalogId: event.catalogId,
    path: event.catalogId === undefined ? event.catalogPath : undefined,
  })
  assertNoSubscriptionEntry(entry)
  return { ...item, event: { ...event, catalogId: entry.catalog_id as never }, path: entry.path }
}

/** What a single caller is told as an error. */
function acceptedOrThrow(outcome: AppendOutcome): AppendOutcome {
  if (outcome.kind === 'unknownExecution') throw noSuchExecution(outcome.executionId)
  if (outcome.kind === 'conflict') throw new CpError('conflict', clashMessage(outcome.eventId))
  if (outcome.kind === 'refused') throw new CpError('refused', outcome.reason)
  if (outcome.kind === 'unclaimable') throw unclaimable(outcome)
  if (outcome.kind === 'claimed' && !outcome.own) {
    throw new CpError('conflict', `the command is already claimed by ${outcome.workerId ?? 'another worker'}`)
  }
  return outcome
}

const UNCLAIMABLE: Record<Unclaimable['code'], string> = {
  active_claim: 'is held; ask again when the lease of its holder is over',
  pool_saturated: 'waits: its pool or playbook is paused, or has as many commands as it may at a time; ask again',
  already_terminal: 'has ended; drop it',
  cancelled: 'is cancelled; drop it',
  execution_ended: 'belongs to an execution that has ended; drop it',
}

export function unclaimable({ code, workerId, retryAfterSeconds }: Unclaimable): CpError {
  const by = code === 'active_claim' && workerId !== undefined ? ` by ${workerId}` : ''
  const message = `the command ${UNCLAIMABLE[code].replace('is held', `is held${by}`)}`
  const isSaturated = code === 'pool_saturated'
  return new CpError(isSaturated ? 'saturated' : 'conflict', message, {
    details: {
      code,
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
      ...(isSaturated ? { detail: { code, message } } : {}),
    },
  })
}

export function clashMessage(eventId: string): string {
  return `event ${eventId} is already stored with other content; give a new event another id`
}
