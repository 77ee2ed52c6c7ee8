// What the live fold reads from an event, wherever its producer put it. Readers are tolerant: an event in
// the log cannot be sent back, so a value of the wrong type counts as absent.

import type { EventRecord } from '../events/eventRecord.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export type WorkflowEvent = Pick<
  EventRecord,
  | 'executionId'
  | 'eventId'
  | 'eventType'
  | 'nodeName'
  | 'catalogId'
  | 'parentExecutionId'
  | 'workerId'
  | 'context'
  | 'result'
  | 'meta'
  | 'error'
  | 'createdAt'
>

/** The pseudo step of the orchestrator's own commands; its events never touch the state. */
export const ORCHESTRATE_NODE = '__orchestrate__'

const NOTHING: JsonObject = Object.freeze({})

export function objectAt(value: JsonValue | undefined, ...path: string[]): JsonObject {
  let current = value
  for (const key of path) current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : undefined
  return isJsonObject(current) ? current : NOTHING
}

export function own(object: JsonObject, key: string): JsonValue | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  return value === null ? undefined : value
}

/** `result.context` if it is there, else `context`. */
export function payloadOf(event: WorkflowEvent): JsonObject {
  const inResult = objectAt(event.result, 'context')
  return inResult === NOTHING ? objectAt(event.context) : inResult
}

export function commandIdOf(event: WorkflowEvent): string | undefined {
  for (const place of [
    objectAt(event.meta),
    objectAt(event.result, 'context'),
    objectAt(event.result, 'data'),
    objectAt(event.context),
  ]) {
    const id = own(place, 'command_id')
    if (typeof id === 'string' && id !== '') return id
    if (typeof id === 'number' || typeof id === 'bigint') return String(id)
  }
  return undefined
}

export function wholeNumberAt(object: JsonObject, key: string): number | undefined {
  const value = own(object, key)
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

/** Which attempt of its command the event belongs to; 0 if it does not say. */
export function attemptOf(event: WorkflowEvent): number {
  for (const place of [objectAt(event.meta), payloadOf(event)]) {
    const attempt = wholeNumberAt(place, 'attempt') ?? wholeNumberAt(place, 'attempts')
    if (attempt !== undefined && attempt > 0) return attempt
  }
  return 0
}

export function flagIn(event: WorkflowEvent, key: string): boolean {
  return [objectAt(event.result, 'context'), objectAt(event.context), objectAt(event.meta)].some(
    (place) => own(place, key) === true,
  )
}

/** Workers announce themselves on everything they send. */
export function isFromWorker(event: WorkflowEvent): boolean {
  return event.workerId !== undefined || own(objectAt(event.meta), 'worker_id') !== undefined
}

export function cursorOf(event: WorkflowEvent): { phase: string; frame: number } | undefined {
  const cursor = objectAt(event.meta, 'cursor')
  const phase = own(cursor, 'phase')
  return typeof phase === 'string' ? { phase, frame: wholeNumberAt(cursor, 'frame') ?? 0 } : undefined
}

/** The data a tool returned, inside the envelopes that workers put around it. */
export function toolData(result: JsonValue | undefined): JsonValue | undefined {
  const nested = own(objectAt(result, 'context', 'result', 'context'), 'data')
  if (nested !== undefined) return nested
  const context = objectAt(result, 'context')
  return own(context, 'data') ?? (context === NOTHING ? result : context)
}

/** The reference under which a large result was stored, in either of the two shapes. */
export function resultReference(result: JsonValue | undefined): JsonValue | undefined {
  return own(objectAt(result, 'context', 'result', 'reference'), 'ref') ?? own(objectAt(result, 'reference'), 'ref')
}

/** Written by this program: the way into the log takes the mark away from everybody else's events. */
export function isOwnEvent(event: WorkflowEvent): boolean {
  return own(objectAt(event.meta), 'emitter') !== undefined
}

/** Written by a decision. */
export function isDecided(event: WorkflowEvent): boolean {
  const meta = objectAt(event.meta)
  return own(meta, 'emitter') === 'orchestrator' && own(meta, 'idempotency_key') !== undefined
}

/** What a worker answered: `{context: {result: …}}` or `{reference: …}`, in whichever column it put it. */
export function answerDocument(event: WorkflowEvent): JsonValue {
  const result = objectAt(event.result)
  if (own(result, 'context') !== undefined || own(result, 'reference') !== undefined) return result
  return event.context === undefined ? (event.result ?? null) : { context: event.context }
}

/** The envelope that a worker puts around the data of a tool, and the part around that. */
export function envelopesOf(document: JsonValue): JsonObject[] {
  const outer = objectAt(document, 'context', 'result')
  const envelope = objectAt(outer, 'context')
  const isEnvelope = ['data', 'error', 'exit_code', 'duration_ms'].some((key) => Object.hasOwn(envelope, key))
  return isEnvelope ? [outer, envelope] : [outer]
}

const ERROR_STATUS: ReadonlySet<string> = new Set(['error', 'failed', 'timeout'])

/** The status, or the exit code, of an envelope or an event; never of the data itself. */
export function saysError(part: JsonObject): boolean {
  const status = own(part, 'status')
  const code = own(part, 'exit_code')
  return (
    (typeof status === 'string' && ERROR_STATUS.has(status.toLowerCase())) || (typeof code === 'number' && code !== 0)
  )
}
