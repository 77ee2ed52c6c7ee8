// A decision on its way into the log: its events as they are appended, the claims of commands that go straight to workers, and
// what its transaction writes besides.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import type { Decision, EmittedEvent, NewCommand } from '../../domain/state/orchestrator.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'
import type { Fence } from '../../stores/leases/leaseStore.js'
import type { Handed } from '../commands/handOver.js'
import type { AppendItem, AppendOutcome } from '../events/appendInTx.js'
import type { Ids } from '../ids/ids.js'
import type { Made } from './commandRows.js'
import { type Claim, claimFor, forWorkers, type HandingOver, handedOf } from './handingOver.js'

export interface PrepareDeps {
  ids: Pick<Ids, 'next'>
  clock: Clock
}

export interface DecisionRequest {
  executionId: string
  version: number
  decision: Decision
  fence: Fence
  /** W3C trace context as JSON text. */
  trace?: string | undefined
}

export interface Prepared {
  executionId: string
  decision: Decision
  items: AppendItem[]
  /** By event: the execution that its command will start. */
  children: ReadonlyMap<number, string>
  claims: Claim[]
}

/** Its events and claims, in the order in which they are appended. */
export function itemsOf({ items, claims }: Prepared): AppendItem[] {
  return [...items, ...claims.map(({ item }) => item)]
}

/** As it was written. */
export function issuedBy(
  made: readonly Prepared[],
  written: readonly AppendOutcome[],
  executions: ReadonlyMap<string, LockedExecution>,
): Made[] {
  let at = 0
  return made.map(({ executionId, decision, items, children, claims }) => ({
    decision,
    execution: executions.get(executionId)!,
    children,
    eventIds: items.map(() => storedId(written[at++])),
    claims: new Map(claims.map((claim) => [claim.command, { ...claim, eventId: storedId(written[at++]) }])),
  }))
}

/** The commands that workers hold by it. */
export function handedBy(
  made: readonly Prepared[],
  written: readonly AppendOutcome[],
  leases: ReadonlyMap<string, string>,
): Map<NewCommand, Handed> {
  const handed = new Map<NewCommand, Handed>()
  let at = 0
  for (const { items, claims } of made) {
    for (const claim of claims) {
      const outcome = written[at + claim.command.event]!
      const { event } = items[claim.command.event]!
      const leaseUntil = leases.get(storedId(outcome))
      if (leaseUntil !== undefined) handed.set(claim.command, handedOf(claim, event, outcome, leaseUntil))
    }
    at += items.length + claims.length
  }
  return handed
}

/** The id under which it was stored; throws if it was not. */
export function storedId(outcome: AppendOutcome | undefined): string {
  if (outcome?.kind === 'stored') return outcome.eventId
  const reason = outcome?.kind === 'refused' ? outcome.reason : 'an event of a decision was not stored'
  throw new CpError('refused', reason)
}

export function prepare(
  deps: PrepareDeps,
  { executionId, decision, trace }: { executionId: string; decision: Decision; trace?: string | undefined },
  { takerOf }: HandingOver,
): Prepared {
  const createdAt = wireTimeFromMillis(decision.atMs ?? deps.clock.now())
  const children = new Map<number, string>()
  for (const { event, waitsFor } of decision.commands ?? []) {
    if (waitsFor === 'playbook') children.set(event, deps.ids.next())
  }
  const claims = forWorkers(decision).flatMap((command) => {
    const taker = takerOf(command)
    return taker === undefined ? [] : [claimFor(deps, executionId, command, taker)]
  })
  const handedOver = new Set(claims.map(({ command }) => command.event))
  const items = decision.events.map((emitted, index): AppendItem => {
    const child = children.get(index)
    const said = isJsonObject(emitted.meta) ? emitted.meta : {}
    const meta: JsonObject = { ...said, emitter: 'orchestrator', idempotency_key: decision.key }
    if (child !== undefined) meta['child_execution_id'] = child
    if (handedOver.has(index)) meta['handed_over'] = true
    const event = toEvent(emitted, meta, {
      executionId: executionId as ExecutionId,
      eventId: deps.ids.next() as EventId,
      createdAt,
    })
    return { event, idGiven: false, publish: true, createExecution: false, trace }
  })
  return { executionId, decision, items, children, claims }
}

/** Field by field: a long chain passes thousands of them, and copies of unknown shape cost ten times as much. */
function toEvent(
  { eventType, nodeName, nodeType, status = 'STARTED', context, result, error }: EmittedEvent,
  meta: JsonObject,
  { executionId, eventId, createdAt }: Pick<EventRecord, 'executionId' | 'eventId' | 'createdAt'>,
): EventRecord {
  return {
    executionId,
    eventId,
    eventType,
    nodeId: nodeName,
    nodeName,
    nodeType,
    status,
    context,
    result: result ?? { status },
    meta,
    error,
    createdAt,
    createdAtGiven: false,
  }
}
