// What must be known before events are appended, read under the lock of their executions and in one round trip.
import type { Tx } from '../../db/db.js'
import { DEFAULT_ORGANIZATION, DEFAULT_TENANT, type EventRecord } from '../../domain/events/eventRecord.js'
import { canonicalEventType, isStartEventType } from '../../domain/events/eventType.js'
import { engineOf } from '../../domain/executions/drivenStart.js'
import { labelsOf } from '../../domain/executions/labels.js'
import { isJsonObject } from '../../domain/json/value.js'
import {
  type CommandClaim,
  type ExistingEvent,
  findClaims,
  findExisting,
  highestEventIds,
} from '../../stores/events/eventStore.js'
import { createExecutions, type LockedExecution, lockExecutions } from '../../stores/executions/executionStore.js'
import type { AppendItem } from './appendOutcome.js'
import { type CommandBook, commandNamed, openCommandBook } from './commandBook.js'

/** What the lock and the look at the log have told. */
export interface Found {
  executions: Map<string, LockedExecution>
  commands: CommandBook
  existing: readonly ExistingEvent[]
  claimed: readonly CommandClaim[]
  highest: Map<string, bigint>
}

/** Locks the executions of the items and reads what decides about them. */
export async function lookUp(tx: Tx, items: readonly AppendItem[]): Promise<Found> {
  const created = newExecutions(items)
  if (created.length > 0) await createExecutions(tx, created)
  // Sent together: one round trip for all. Each statement sees what was committed before the lock was ours.
  const ids = [...new Set(items.map(({ event }) => event.executionId))]
  const minted = [...new Set(items.filter((item) => !item.idGiven).map(({ event }) => event.executionId))]
  const given = items.filter((item) => item.idGiven).map(({ event }) => event)
  const own = items.filter((item) => item.publish)
  const claims = own.flatMap(({ event }) => (commandNamed(event) === undefined ? (claimOf(event) ?? []) : []))
  const [executions, commands, existing, claimed, highest] = await Promise.all([
    lockExecutions(tx, ids),
    openCommandBook(tx, own),
    given.length === 0 ? [] : findExisting(tx, given),
    claims.length === 0 ? [] : findClaims(tx, claims),
    minted.length === 0 ? new Map<string, bigint>() : highestEventIds(tx, minted),
  ])
  return { executions, commands, existing, claimed, highest }
}

function newExecutions(items: readonly AppendItem[]) {
  return items
    .filter((item) => item.createExecution || isStartEventType(item.event.eventType))
    .map(({ event, path, publish, restores }) => ({
      executionId: event.executionId,
      catalogId: event.catalogId ?? '0',
      path: path ?? null,
      parentExecutionId: event.parentExecutionId ?? null,
      tenantId: event.tenantId ?? DEFAULT_TENANT,
      organizationId: event.organizationId ?? DEFAULT_ORGANIZATION,
      labels: labelsOf(event),
      // What comes from elsewhere is driven there, if at all.
      engine: publish && restores !== true ? (engineOf(event) ?? null) : null,
    }))
}

export function claimOf(event: EventRecord): { executionId: string; commandId: string } | undefined {
  if (canonicalEventType(event.eventType) !== 'command.claimed' || !isJsonObject(event.meta)) return undefined
  const commandId = event.meta['command_id']
  if (typeof commandId !== 'string' && typeof commandId !== 'number' && typeof commandId !== 'bigint') return undefined
  return { executionId: event.executionId, commandId: String(commandId) }
}
