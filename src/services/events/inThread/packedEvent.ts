// What is small of an event on its way from a thread: its fields one after the other as a JSON array. All records that
// are put together from it look alike to the engine, which makes everything done with them cheaper (measured: a third).
import type { WrittenEvent } from '../../../domain/events/eventRecord.js'
import type { NormalisedEvent } from '../../../domain/events/normaliseEvent.js'

export function packEvent(event: NormalisedEvent): string {
  // Ids are text and numbers are doubles: nothing here needs the lossless writer.
  return JSON.stringify([
    event.executionId,
    event.eventId,
    event.eventIdGiven,
    event.catalogId,
    event.catalogPath,
    event.parentEventId,
    event.parentExecutionId,
    event.prevEventId,
    event.eventType,
    event.nodeId,
    event.nodeName,
    event.nodeType,
    event.status,
    event.workerId,
    event.duration,
    event.context,
    event.result,
    event.meta,
    event.error,
    event.stackTrace,
    event.tenantId,
    event.organizationId,
    event.createdAt,
    event.createdAtGiven,
  ])
}

/** Values that were never given come as null. */
export type PackedEvent = unknown[]

export function unpackEvent(fields: PackedEvent, written: WrittenEvent): NormalisedEvent {
  let at = 0
  const next = (): never => (fields[at++] ?? undefined) as never
  return {
    executionId: next(),
    eventId: next(),
    eventIdGiven: next(),
    catalogId: next(),
    catalogPath: next(),
    parentEventId: next(),
    parentExecutionId: next(),
    prevEventId: next(),
    eventType: next(),
    nodeId: next(),
    nodeName: next(),
    nodeType: next(),
    status: next(),
    workerId: next(),
    duration: next(),
    context: next(),
    result: next(),
    meta: next(),
    error: next(),
    stackTrace: next(),
    tenantId: next(),
    organizationId: next(),
    createdAt: next(),
    createdAtGiven: next(),
    written,
  } satisfies Record<Exclude<keyof NormalisedEvent, 'hidden' | 'sealed'>, unknown>
}
