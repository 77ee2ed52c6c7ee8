// Starting, cancelling and finalising executions: each is an event with its outbox row, written together
// with everything that must not be true without it.

import type { Databases } from '../../db/databases.js'
import {
  DEFAULT_ORGANIZATION,
  DEFAULT_TENANT,
  type EventRecord,
  type OwnedEvent,
} from '../../domain/events/eventRecord.js'
import { type WireTime, wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isTerminalStatus, noSuchExecution, type TerminalStatus } from '../../domain/executions/executionStatus.js'
import { isSubscriptionLog, subscriptionUntouched } from '../../domain/executions/kinds.js'
import type { Labels } from '../../domain/executions/labels.js'
import type { CatalogId, EventId, ExecutionId } from '../../domain/ids/ids.js'
import { canonicalChecksum } from '../../domain/json/canonical.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { shardOf } from '../../domain/shards/shards.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { traced } from '../../runtime/tracing.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import { dedupHolder, keepDedupKey } from '../../stores/executions/dedupStore.js'
import { lockExecutions } from '../../stores/executions/executionStore.js'
import { LARGE_BYTES, type LargeBodies } from '../bodies/largeBodies.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertToolsOffered } from '../catalog/requiredTools.js'
import { assertRunnable, type RunnableDeps } from '../catalog/runnable.js'
import type { AppendItem } from '../events/appendInTx.js'
import type { Starter } from '../events/starts.js'
import type { Ids } from '../ids/ids.js'
import { assertParentKnown } from './lookups.js'

export interface ExecutionsDeps extends RunnableDeps {
  databases: Databases
  appender: Starter
  ids: Pick<Ids, 'next' | 'nextInShard' | 'above' | 'databaseNow'>
  clock: Clock
  /** The version of the engine that drives what is started here; undefined: nobody does. */
  engine?: number | undefined
  large: LargeBodies
}

export interface StartRequest {
  path?: string | undefined
  catalogId?: string | undefined
  version?: number | undefined
  payload?: JsonObject | undefined
  /** Instead of `payload` and `trace`, as JSON text: what is too large to be read here. */
  texts?: { payload: string | undefined; trace: string | undefined } | undefined
  parentExecutionId?: string | undefined
  executionPool?: string | undefined
  /** Of its commands; higher comes first. */
  priority?: number | undefined
  trace?: JsonValue | undefined
  labels?: Labels | undefined
  dedup?: { key: string; windowSeconds: number } | undefined
  /** The execution fails when it takes longer. */
  timeoutSeconds?: number | undefined
  /** Where relative paths of playbooks lead: written path → path in the catalog. */
  childrenMap?: JsonObject | undefined
  /** Started by a command of its parent. */
  child?: { commandId: string; depth: number } | undefined
  /** Started because this execution has failed. */
  failureOf?: string | undefined
  /** False: the engine leaves it alone, and whoever started it sends its events. */
  driven?: boolean | undefined
  tenantId?: string | undefined
  organizationId?: string | undefined
  /** W3C trace context of the request. */
  traceContext?: string | undefined
}

export interface Started {
  executionId: string
  status: 'started' | 'duplicate'
}

export function startExecution(deps: ExecutionsDeps, request: StartRequest): Promise<Started> {
  return traced('noetl.start', { parent: request.traceContext, inherit: true }, async (span) => {
    const started = await startOnce(deps, { ...request, traceContext: span.carrier })
    span.set({ 'noetl.execution_id': started.executionId, 'noetl.start': started.status })
    return started
  })
}

async function startOnce(deps: ExecutionsDeps, request: StartRequest): Promise<Started> {
  const entry = await findEntry(deps, request)
  await assertRunnable(deps, entry)
  await assertToolsOffered(deps, entry)
  if (request.parentExecutionId !== undefined) await assertParentKnown(deps, request.parentExecutionId)
  return startEntry(deps, entry, request)
}

/** Of an entry that may run; its parent is known. */
export async function startEntry(deps: ExecutionsDeps, entry: CatalogEntry, request: StartRequest): Promise<Started> {
  const executionId = mintExecutionId(deps, request)
  const item: AppendItem = {
    event: await makeStartEvent(deps, request, executionId, entry),
    idGiven: false,
    publish: true,
    createExecution: true,
    path: entry.path,
    trace: request.traceContext,
  }
  const { dedup } = request
  if (dedup === undefined) {
    await deps.appender.append([item])
    return { executionId, status: 'started' }
  }
  const key = { scope: request.parentExecutionId ?? '0', key: dedup.key }
  return deps.appender.appendWith(executionId, async (tx, append) => {
    if (await keepDedupKey(tx, key, executionId, dedup.windowSeconds)) {
      await append([item])
      return { executionId, status: 'started' }
    }
    const holder = await dedupHolder(tx, key)
    if (holder === undefined)
      throw new CpError('conflict', `the dedup key ${JSON.stringify(dedup.key)} was released at this moment; try again`)
    return { executionId: holder, status: 'duplicate' }
  })
}

/** A deduplicated start must meet its earlier twin: the key decides the shard, and the id is minted to fit. */
export function mintExecutionId(
  deps: Pick<ExecutionsDeps, 'databases' | 'ids'>,
  request: Pick<StartRequest, 'dedup' | 'parentExecutionId'>,
): ExecutionId {
  const shards = deps.databases.shards.length
  if (request.dedup === undefined || shards === 1) return deps.ids.next() as ExecutionId
  const digest = canonicalChecksum([request.parentExecutionId ?? '0', request.dedup.key])
  const shard = shardOf(BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)), shards)
  return deps.ids.nextInShard(shard, shards) as ExecutionId
}

export function isLargeStart({ texts }: Pick<StartRequest, 'texts'>, entry: Pick<CatalogEntry, 'payload'>): boolean {
  return texts !== undefined || (entry.payload?.length ?? 0) > LARGE_BYTES
}

/** Of any size. */
export async function makeStartEvent(
  deps: Pick<ExecutionsDeps, 'ids' | 'clock' | 'large' | 'engine'>,
  request: StartRequest,
  executionId: ExecutionId,
  entry: Pick<CatalogEntry, 'catalog_id' | 'path' | 'kind' | 'version' | 'payload'>,
): Promise<OwnedEvent> {
  if (!isLargeStart(request, entry)) return startEvent(deps, request, executionId, entry)
  const small = startEvent(deps, { ...request, payload: undefined, trace: undefined }, executionId, {
    ...entry,
    payload: null,
  })
  const { payload, trace, texts } = request
  const { workload: _, ...context } = small.context as Record<string, string | number>
  const written = await deps.large.writeStart({
    context,
    defaults: entry.payload,
    payload: texts?.payload ?? (payload === undefined ? undefined : writeJson(payload)),
    meta: small.meta as Record<string, string>,
    trace: texts?.trace ?? (trace === undefined ? undefined : writeJson(trace)),
    result: small.result as Record<string, string>,
  })
  return { ...small, written }
}

export function startEvent(
  deps: Pick<ExecutionsDeps, 'ids' | 'clock' | 'engine'>,
  request: StartRequest,
  executionId: ExecutionId,
  entry: Pick<CatalogEntry, 'catalog_id' | 'path' | 'kind' | 'version' | 'payload'>,
): OwnedEvent {
  const now = wireTimeFromMillis(deps.clock.now())
  const defaults = entry.payload === null ? null : parseJson(entry.payload)
  const workload: JsonObject = { ...(isJsonObject(defaults) ? defaults : {}), ...request.payload }
  const context: JsonObject = {
    catalog_id: entry.catalog_id,
    execution_id: executionId,
    path: entry.path,
    version: entry.version,
    workload,
  }
  const meta: JsonObject = { emitted_at: now, emitter: 'control_plane' }
  if (request.executionPool !== undefined) meta['execution_pool'] = request.executionPool
  if (request.priority !== undefined) meta['priority'] = request.priority
  if (request.trace !== undefined) meta['trace'] = request.trace
  if (request.labels !== undefined) meta['labels'] = request.labels
  if (request.timeoutSeconds !== undefined) meta['timeout_seconds'] = request.timeoutSeconds
  if (request.childrenMap !== undefined) meta['children_map'] = request.childrenMap
  if (request.failureOf !== undefined) meta['failure_of'] = request.failureOf
  if (request.child !== undefined) {
    meta['parent_command_id'] = request.child.commandId
    meta['depth'] = request.child.depth
  }
  const isDriven = request.driven !== false && entry.kind.toLowerCase() === 'playbook'
  if (isDriven && deps.engine !== undefined) meta['engine'] = deps.engine
  return {
    executionId,
    eventId: deps.ids.next() as EventId,
    catalogId: entry.catalog_id as CatalogId,
    parentExecutionId: request.parentExecutionId as ExecutionId | undefined,
    eventType: 'playbook_started',
    nodeId: 'playbook',
    nodeName: entry.path,
    nodeType: 'playbook',
    status: 'STARTED',
    context,
    result: { status: 'STARTED' },
    meta,
    tenantId: request.tenantId ?? DEFAULT_TENANT,
    organizationId: request.organizationId ?? DEFAULT_ORGANIZATION,
    createdAt: now,
    createdAtGiven: false,
  }
}

export interface EndRequest {
  executionId: ExecutionId
  outcome: TerminalStatus
  error?: string | undefined
  reason?: string | undefined
  actor?: string | undefined
  /** W3C trace context of the request. */
  traceContext?: string | undefined
}

const END_TYPES = {
  COMPLETED: 'playbook.completed',
  FAILED: 'playbook.failed',
  CANCELLED: 'playbook_cancelled',
} as const

/** Ends an execution by an event. One that has already ended is refused, and `details.status` says how it did. */
export async function endExecution(deps: ExecutionsDeps, request: EndRequest): Promise<{ eventId: string }> {
  return deps.appender.appendWith(request.executionId, async (tx, append) => {
    const locked = (await lockExecutions(tx, [request.executionId])).get(request.executionId)
    if (locked === undefined) throw noSuchExecution(request.executionId)
    if (isSubscriptionLog(locked.summary.startEventType)) throw subscriptionUntouched(request.executionId)
    if (isTerminalStatus(locked.summary.status)) {
      throw new CpError('refused', `execution ${request.executionId} is already ${locked.summary.status}`, {
        details: { status: locked.summary.status },
      })
    }
    const [outcome] = await append([
      {
        event: endEvent(request, deps.ids.next() as EventId, locked, wireTimeFromMillis(deps.clock.now())),
        idGiven: false,
        publish: true,
        createExecution: false,
        trace: request.traceContext,
      },
    ])
    if (outcome?.kind === 'refused') throw new CpError('refused', outcome.reason)
    if (outcome?.kind !== 'stored')
      throw new CpError('internal', `the end of execution ${request.executionId} was not stored`)
    return { eventId: outcome.eventId }
  })
}

function endEvent(
  request: EndRequest,
  eventId: EventId,
  locked: { tenantId: string; organizationId: string },
  now: WireTime,
): EventRecord {
  const meta: JsonObject = { emitted_at: now, emitter: 'control_plane' }
  if (request.reason !== undefined) meta['reason'] = request.reason
  if (request.actor !== undefined) meta['actor'] = request.actor
  return {
    executionId: request.executionId,
    eventId,
    eventType: END_TYPES[request.outcome],
    nodeId: 'playbook',
    nodeName: 'playbook',
    nodeType: 'playbook',
    status: request.outcome,
    result: { status: request.outcome },
    meta,
    error: request.error,
    tenantId: locked.tenantId,
    organizationId: locked.organizationId,
    createdAt: now,
    createdAtGiven: false,
  }
}
