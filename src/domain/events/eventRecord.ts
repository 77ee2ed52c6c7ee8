// An event as the log holds it: one field per column that is written, ids as text, times as wire time.
// Whatever comes from outside becomes one of these first, by normaliseEvent or parseEnvelope; nothing
// half-checked goes further.

import type { CatalogId, EventId, ExecutionId } from '../ids/ids.js'
import { canonicalJson, sha256Hex } from '../json/canonical.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import type { WireTime } from './wireTime.js'

export interface EventRecord {
  executionId: ExecutionId
  eventId: EventId
  /** Unknown for most posted events: the execution's own is used then. */
  catalogId?: CatalogId | undefined
  parentEventId?: EventId | undefined
  parentExecutionId?: ExecutionId | undefined
  prevEventId?: EventId | undefined
  /** As written by the producer; empty when an envelope has none. */
  eventType: string
  nodeId?: string | undefined
  nodeName?: string | undefined
  nodeType?: string | undefined
  status?: string | undefined
  workerId?: string | undefined
  /** A float column; both kinds of number are fine. */
  duration?: number | undefined
  context?: JsonValue | undefined
  result?: JsonValue | undefined
  meta?: JsonValue | undefined
  error?: string | undefined
  stackTrace?: string | undefined
  /** Absent when the producer named none: they are the execution's then. */
  tenantId?: string | undefined
  organizationId?: string | undefined
  createdAt: WireTime
  /** Whether the producer said so itself; a time we filled in is not part of what the event says. */
  createdAtGiven: boolean
  /** Secrets that were taken out, by JSON pointer; never written as they are. */
  hidden?: JsonObject | undefined
  /** Likewise, as this installation sealed them earlier: comes with an import. */
  sealed?: string | undefined
}

/** An event that knows whose it is: everything in the log. */
export interface OwnedEvent extends EventRecord {
  tenantId: string
  organizationId: string
}

export const DEFAULT_TENANT = 'default'
export const DEFAULT_ORGANIZATION = 'default'

/**
 * What an event says, as one hash: the same event sent twice gives the same text, another event under the
 * same id does not. Left out is what we add ourselves on arrival (our clock, the catalog lookup).
 */
export function eventChecksum(event: OwnedEvent): string {
  const said: (JsonValue | undefined)[] = [
    event.executionId,
    event.eventId,
    event.eventType,
    event.tenantId,
    event.organizationId,
    event.parentEventId,
    event.parentExecutionId,
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
    event.createdAtGiven ? event.createdAt : undefined,
  ]
  // One line per field: canonical text has no line breaks, so an absent field cannot be mistaken for another.
  let text = ''
  for (const value of said) text += value === undefined ? '\n' : `${canonicalJson(value)}\n`
  return sha256Hex(text)
}
