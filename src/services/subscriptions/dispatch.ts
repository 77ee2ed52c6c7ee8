// Starts one execution per message. A batch of messages of one subscription is one transaction per shard:
//
//   find the playbook, ask the log for the right to start
//     └─▶ per shard: hold the fence ──▶ keep the dedup keys ──▶ append start events with outbox rows
//                                          │                        └─▶ confirm the right ──▶ commit: started
//                                          │                                  └── it has ended: nothing is started
//                                          └── key is taken: duplicate, answers the execution that has it
//
// All messages of a shard are started, or none. The caller acknowledges a message after the commit.

import type { Tx } from '../../db/db.js'
import type { OwnedEvent } from '../../domain/events/eventRecord.js'
import { compareIds } from '../../domain/ids/ids.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import { isTracing, type Span, startSpan } from '../../runtime/tracing.js'
import {
  holdFence,
  type KeptKey,
  keepKeys,
  raiseFence,
  seenKeys,
} from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import type { StartItem } from '../events/starts.js'
import {
  type ExecutionsDeps,
  isLargeStart,
  makeStartEvent,
  mintExecutionId,
  type Started,
  startEvent,
} from '../executions/executions.js'
import { findPlaybook } from './playbook.js'
import { confirmRight, lostRight, type Right } from './right.js'

export interface DispatchTarget extends Right {
  playbook: string
  executionPool?: string | undefined
}

export interface Delivery {
  /** The message itself, however often it is delivered. */
  identity: string
  /** What the sender calls it; other messages with the same key within the window are repetitions. */
  key?: string | undefined
  windowSeconds: number
  payload: JsonObject
  /** Instead of `payload`, as JSON text, when it is large. */
  payloadText?: string | undefined
  trace?: JsonValue | undefined
  traceContext?: string | undefined
}

// How long a message is recognised as itself: for redeliveries after a crash between commit and acknowledgement.
export const IDENTITY_WINDOW_SECONDS = 86_400

interface Start {
  index: number
  delivery: Delivery
  dedup: KeptKey
  /** Made before the transaction, because it is large. */
  event?: OwnedEvent
}

/** Each message continues its own trace, although many of them share a transaction. */
export async function dispatch(
  deps: ExecutionsDeps,
  target: DispatchTarget,
  deliveries: readonly Delivery[],
): Promise<Started[]> {
  if (!isTracing()) return startAll(deps, target, deliveries)
  const spans = deliveries.map((delivery) => spanOf(target, delivery))
  try {
    const traced = deliveries.map((delivery, index) => ({ ...delivery, traceContext: spans[index]!.carrier }))
    const results = await startAll(deps, target, traced)
    for (const [index, { executionId, status }] of results.entries()) {
      spans[index]!.set({ 'noetl.execution_id': executionId, 'noetl.start': status })
      spans[index]!.end()
    }
    return results
  } catch (error) {
    for (const span of spans) span.end(error)
    throw error
  }
}

function spanOf(target: DispatchTarget, delivery: Delivery): Span {
  return startSpan('noetl.subscription.start', {
    kind: 'consumer',
    parent: delivery.traceContext,
    attributes: { 'noetl.subscription_id': target.subscriptionId, 'noetl.message': delivery.identity },
  })
}

async function startAll(
  deps: ExecutionsDeps,
  target: DispatchTarget,
  deliveries: readonly Delivery[],
): Promise<Started[]> {
  const [entry, right] = await Promise.all([findPlaybook(deps, target.playbook), confirmRight(deps, target)])
  const results: Started[] = new Array(deliveries.length)
  const byShard = new Map<number, Start[]>()
  const first = new Map<string, number>()
  const repeats: [number, number][] = []
  for (const [index, delivery] of deliveries.entries()) {
    const key = delivery.key ?? delivery.identity
    const earlier = first.get(key)
    if (earlier !== undefined) {
      repeats.push([index, earlier])
      continue
    }
    first.set(key, index)
    const windowSeconds = delivery.key === undefined ? IDENTITY_WINDOW_SECONDS : delivery.windowSeconds
    const executionId = mintExecutionId(deps, {
      parentExecutionId: target.subscriptionId,
      dedup: { key, windowSeconds },
    })
    const start: Start = { index, delivery, dedup: { key, executionId, windowSeconds } }
    const request = requestOf(target, delivery)
    if (isLargeStart(request, entry)) start.event = await makeStartEvent(deps, request, executionId, entry)
    const shard = deps.databases.shardOf(executionId)
    const group = byShard.get(shard)
    if (group === undefined) byShard.set(shard, [start])
    else group.push(start)
  }
  const itemOf = ({ delivery, dedup, event }: Start): StartItem => ({
    event: event ?? startEvent(deps, requestOf(target, delivery), dedup.executionId as never, entry),
    path: entry.path,
    trace: delivery.traceContext,
  })
  await Promise.all(
    [...byShard].map(([shard, starts]) =>
      deps.appender.startWith(shard, async (tx, start) => {
        for (const [index, started] of await startGroup(tx, start, target, starts, itemOf)) results[index] = started
        await right.confirm(tx, shard)
      }),
    ),
  )
  for (const [index, earlier] of repeats) results[index] = { ...results[earlier]!, status: 'duplicate' }
  return results
}

async function startGroup(
  tx: Tx,
  start: (items: readonly StartItem[]) => Promise<void>,
  target: DispatchTarget,
  starts: readonly Start[],
  itemOf: (start: Start) => StartItem,
): Promise<[number, Started][]> {
  const scope = target.subscriptionId
  const identities = starts.filter(isNamed).map(({ delivery }) => delivery.identity)
  const [epoch, seen] = await Promise.all([
    holdFence(tx, scope),
    identities.length === 0 ? new Map<string, string>() : seenKeys(tx, scope, identities),
  ])
  if (epoch !== target.epoch) await openFence(tx, target, epoch)

  const results: [number, Started][] = []
  const open = starts.filter(({ index, delivery }) => {
    const holder = seen.get(delivery.identity)
    if (holder !== undefined) results.push([index, { executionId: holder, status: 'duplicate' }])
    return holder === undefined
  })
  if (open.length === 0) return results
  const free = await keepKeys(
    tx,
    scope,
    open.map(({ dedup }) => dedup),
  )
  const fresh = open.filter(({ dedup }) => free.has(dedup.key))
  const held = open.filter(({ dedup }) => !free.has(dedup.key))
  const marks = fresh.filter(isNamed).map(identityKey)
  const [, , holders] = await Promise.all([
    start(fresh.map(itemOf)),
    marks.length === 0 ? undefined : keepKeys(tx, scope, marks),
    held.length === 0
      ? new Map<string, string>()
      : seenKeys(
          tx,
          scope,
          held.map(({ dedup }) => dedup.key),
        ),
  ])
  for (const { index, dedup } of fresh) results.push([index, { executionId: dedup.executionId, status: 'started' }])
  for (const { index, dedup } of held) {
    const executionId = holders.get(dedup.key)
    // Its time ran out between the two statements: the next attempt gets it.
    if (executionId === undefined) throw new CpError('unavailable', 'a dedup key expired at this moment; try again')
    results.push([index, { executionId, status: 'duplicate' }])
  }
  return results
}

/** Its key is the sender's, so the message itself needs a record of its own. */
function isNamed({ delivery }: Start): boolean {
  return delivery.key !== undefined && delivery.key !== delivery.identity
}

function identityKey({ delivery, dedup }: Start): KeptKey {
  return { key: delivery.identity, executionId: dedup.executionId, windowSeconds: IDENTITY_WINDOW_SECONDS }
}

/** The first start of an epoch in a shard raises the fence; one of an older epoch is refused. */
async function openFence(tx: Tx, target: DispatchTarget, found: string | undefined): Promise<void> {
  const { subscriptionId: id, epoch } = target
  const isOlder = found !== undefined && compareIds(found, epoch) > 0
  if (!isOlder && (await raiseFence(tx, id, epoch))) return
  // Another batch of the same epoch may have been first to raise it.
  if (!isOlder && (await holdFence(tx, id)) === epoch) return
  throw lostRight(target)
}

function requestOf(target: DispatchTarget, delivery: Delivery) {
  return {
    parentExecutionId: target.subscriptionId,
    payload: delivery.payload,
    texts: delivery.payloadText === undefined ? undefined : { payload: delivery.payloadText, trace: undefined },
    executionPool: target.executionPool,
    trace: delivery.trace,
    dedup: undefined,
  }
}
