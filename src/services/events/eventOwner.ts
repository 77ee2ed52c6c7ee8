// Whose an event is: the tenant and organisation of its execution, which the lock has just read. An event that names
// none gets them; one that names others is refused, because replays and subjects would never find it again.
import {
  DEFAULT_ORGANIZATION,
  DEFAULT_TENANT,
  type EventRecord,
  type OwnedEvent,
} from '../../domain/events/eventRecord.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'

export type Ownership = 'same' | 'other' | 'learned'

/**
 * `learned`: a projected event made the execution before its start came, nobody had said whose it is, and this event
 * does. The execution has changed hands; what was stored before must follow.
 */
export function checkOwner(event: EventRecord, execution: LockedExecution): Ownership {
  const { tenantId = execution.tenantId, organizationId = execution.organizationId } = event
  if (tenantId === execution.tenantId && organizationId === execution.organizationId) return 'same'
  const isAssumed = execution.tenantId === DEFAULT_TENANT && execution.organizationId === DEFAULT_ORGANIZATION
  if (!isAssumed || execution.summary.startEventId !== undefined) return 'other'
  execution.tenantId = tenantId
  execution.organizationId = organizationId
  return 'learned'
}

export function owned(
  event: EventRecord,
  owner: { tenantId: string; organizationId: string },
  eventId = event.eventId,
): OwnedEvent {
  return {
    ...event,
    eventId,
    tenantId: event.tenantId ?? owner.tenantId,
    organizationId: event.organizationId ?? owner.organizationId,
  }
}

export function foreignOwnerMessage(event: EventRecord, execution: LockedExecution): string {
  const { tenantId = execution.tenantId, organizationId = execution.organizationId } = event
  return (
    `execution ${execution.executionId} belongs to tenant ${JSON.stringify(execution.tenantId)}, organization ` +
    `${JSON.stringify(execution.organizationId)}; event ${event.eventId} names ${JSON.stringify(tenantId)}, ` +
    `${JSON.stringify(organizationId)}: leave both out, or send what the execution has`
  )
}
