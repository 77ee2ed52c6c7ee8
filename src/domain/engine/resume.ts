// What a new execution takes over from one that has failed or was cancelled, so that it goes on where that one stopped:
// everything that was done and led on. Left out, as if they had never begun, are visits that failed or were under way; of a
// loop over a list the items before the first one that failed stay. Visits that ended well but were not followed because
// the execution had stopped lose their exit alone, so the engine leaves them again, by their arcs this time.

import type { EventRecord } from '../events/eventRecord.js'
import { canonicalEventType, isStartEventType } from '../events/eventType.js'
import { compareIds, type EventId, type ExecutionId } from '../ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { placeOfCommand } from '../state/applyAnswer.js'
import { applyEvent } from '../state/applyEvent.js'
import { commandStatus, isLive, type Visit } from '../state/drivenState.js'
import { commandIdOf, objectAt, payloadOf, wholeNumberAt } from '../state/workflowEvent.js'
import { emptyState } from '../state/workflowState.js'

export interface Kept {
  /** Without the start and the end. */
  readonly events: readonly EventRecord[]
  /** Steps that begin again or go on, in the order in which they were entered. */
  readonly again: readonly string[]
}

/** `log`: everything of one driven execution that has ended, in id order. */
export function keptOf(log: readonly EventRecord[]): Kept {
  const reopened = reopenedVisits(log)
  const extents = extentsOf(log, reopened)
  const events = log.filter((event) => isKept(event, extents))
  const again = [...extents.keys()].map(stepOf)
  const hasBegun = events.some(({ eventType }) => /^step[._](enter|skipped)$/.test(eventType))
  return { events: hasBegun ? events : [], again: [...new Set(again)] }
}

type VisitKey = string

const visitKey = (step: string, visit: number): VisitKey => `${step}#${visit}`
const stepOf = (key: VisitKey): string => key.slice(0, key.lastIndexOf('#'))

/** The visit that an event of the engine is about. */
function visitOf({ nodeName, meta }: EventRecord): VisitKey | undefined {
  const visit = wholeNumberAt(objectAt(meta), 'visit')
  return nodeName === undefined || visit === undefined ? undefined : visitKey(nodeName, visit)
}

interface Exit {
  readonly id: string
  readonly isFailed: boolean
  readonly isHandled: boolean
  readonly routed: number
}

/** Visits whose exit, if there is one, does not count; with the exit. */
function reopenedVisits(log: readonly EventRecord[]): Map<VisitKey, Exit | undefined> {
  const exits = new Map<VisitKey, Exit>()
  const entered: VisitKey[] = []
  for (const event of log) {
    const type = canonicalEventType(event.eventType)
    const key = visitOf(event)
    if (key === undefined) continue
    if (type === 'step.enter') entered.push(key)
    if (type === 'step.exit') exits.set(key, exitOf(event))
  }
  const failures = [...exits.values()].filter(isUnhandled).map(({ id }) => id)
  const [first] = failures.sort(compareIds)
  const reopened = new Map<VisitKey, Exit | undefined>()
  for (const key of entered) {
    const exit = exits.get(key)
    const isCutOff =
      exit !== undefined &&
      first !== undefined &&
      exit.routed === 0 &&
      compareIds(exit.id, first) > 0 &&
      !exit.isHandled
    if (exit === undefined || isUnhandled(exit) || isCutOff) reopened.set(key, exit)
  }
  return reopened
}

function exitOf({ eventId, result, meta }: EventRecord): Exit {
  const { routed, handled } = objectAt(meta)
  return {
    id: eventId,
    isFailed: objectAt(result)['status'] === 'FAILED',
    isHandled: handled === true,
    routed: Array.isArray(routed) ? routed.length : 0,
  }
}

function isUnhandled({ isFailed, isHandled }: Exit): boolean {
  return isFailed && !isHandled
}

/** How much of a reopened visit stays: nothing, everything but its exit, or the first items of its loop. */
type Extent = 'nothing' | 'all' | number

function extentsOf(
  log: readonly EventRecord[],
  reopened: ReadonlyMap<VisitKey, Exit | undefined>,
): Map<VisitKey, Extent> {
  const extents = new Map<VisitKey, Extent>([...reopened.keys()].map((key) => [key, 'nothing']))
  const [start] = log
  if (start === undefined) return extents
  const state = emptyState(start.executionId)
  for (const event of log) {
    const isExit = canonicalEventType(event.eventType) === 'step.exit' && reopened.has(visitOf(event) ?? '')
    if (!isExit) applyEvent(state, event)
  }
  for (const [name, { visits }] of state.driven?.steps ?? []) {
    for (const [number, visit] of visits) {
      const key = visitKey(name, number)
      if (isLive(visit) && reopened.has(key)) extents.set(key, extentOf(visit, reopened.get(key)))
    }
  }
  return extents
}

function extentOf({ enter, commands }: Visit, exit: Exit | undefined): Extent {
  if (enter?.final === true) return 'nothing'
  if (exit !== undefined && !exit.isFailed) return 'all'
  // Rows of a cursor that are done are not claimed again.
  if (enter?.cursor !== undefined) return 'nothing'
  const isDone = (suffix: string) => commandStatus(commands.get(suffix) ?? {}) === 'ok'
  if (enter?.expected === undefined) return exit === undefined && isDone('') ? 'all' : 'nothing'
  let done = 0
  while (isDone(`i${done}`)) done += 1
  return done === 0 ? 'nothing' : done
}

const COMMAND_TYPES: ReadonlySet<string> = new Set([
  'command.issued',
  'command.claimed',
  'command.started',
  'command.completed',
  'command.failed',
  'call.done',
  'call.error',
])

function isKept(event: EventRecord, extents: ReadonlyMap<VisitKey, Extent>): boolean {
  const type = canonicalEventType(event.eventType)
  const { nodeName = '' } = event
  if (type === 'ctx.updated') return isWriteKept(event, extents)
  if (COMMAND_TYPES.has(type)) {
    const place = placeOfCommand(event)
    if (place === undefined) return false
    const extent = extents.get(visitKey(nodeName, place.visit))
    if (typeof extent === 'number') return place.suffix.startsWith('i') && Number(place.suffix.slice(1)) < extent
    return extent !== 'nothing'
  }
  if (type !== 'step.enter' && type !== 'step.exit' && type !== 'step.skipped') return false
  const key = visitOf(event)
  // A step that nothing led to any more, because of an exit that does not count.
  if (key === undefined) return !extents.has(decidedAtExitOf(event) ?? '')
  const extent = extents.get(key)
  return extent === undefined || (extent !== 'nothing' && type !== 'step.exit')
}

/** Writes of a visit that goes on stay if they were made between its items; those at its exit are made again. */
function isWriteKept(event: EventRecord, extents: ReadonlyMap<VisitKey, Extent>): boolean {
  const { step } = payloadOf(event)
  const visit = wholeNumberAt(payloadOf(event), 'visit')
  if (typeof step !== 'string' || visit === undefined) return true
  const extent = extents.get(visitKey(step, visit))
  if (extent === undefined) return true
  const prefix = `${visitKey(step, visit)}:i`
  const decision = objectAt(event.meta)['idempotency_key']
  if (extent === 'nothing' || typeof decision !== 'string' || !decision.startsWith(prefix)) return false
  const item = Number(decision.slice(prefix.length))
  return Number.isInteger(item) && (extent === 'all' || item < extent)
}

function decidedAtExitOf({ meta }: EventRecord): VisitKey | undefined {
  const decision = objectAt(meta)['idempotency_key']
  return typeof decision === 'string' && decision.endsWith(':exit') ? decision.slice(0, -':exit'.length) : undefined
}

/** The same events as those of another execution: their ids, and the names of commands, which begin with the execution. */
export function transplanted(events: readonly EventRecord[], to: ExecutionId, mint: () => EventId): EventRecord[] {
  const ids = new Map<string, EventId>()
  return events.map((event) => {
    const eventId = mint()
    ids.set(event.eventId, eventId)
    const renamed = (part: JsonValue | undefined) => withNames(part, event, to)
    const meta = renamed(event.meta)
    if (isJsonObject(meta)) {
      const { answer } = meta
      if (typeof answer === 'string') meta['answer'] = ids.get(answer) ?? answer
      // Whatever it says, nobody is to do it: it is done.
      if (meta['actionable'] === true) meta['actionable'] = false
    }
    const context = renamed(event.context)
    const result = objectAt(event.result)
    const inner = renamed(result['context'])
    return {
      ...event,
      executionId: to,
      eventId,
      ...(meta === undefined ? {} : { meta }),
      ...(context === undefined ? {} : { context }),
      ...(inner === undefined ? {} : { result: { ...result, context: inner } }),
    }
  })
}

function withNames(part: JsonValue | undefined, event: EventRecord, to: ExecutionId): JsonValue | undefined {
  if (!isJsonObject(part)) return part
  const copy: JsonObject = { ...part }
  const command = commandIdOf(event)
  if (command !== undefined && copy['command_id'] === command && command.startsWith(`${event.executionId}:`)) {
    copy['command_id'] = to + command.slice(event.executionId.length)
  }
  if (copy['execution_id'] === event.executionId) copy['execution_id'] = to
  return copy
}

export function startOf(log: readonly EventRecord[]): EventRecord | undefined {
  return log.find(({ eventType }) => isStartEventType(eventType))
}
