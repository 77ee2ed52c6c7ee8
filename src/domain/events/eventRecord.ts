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
  /** The parts of a large event; `context`, `result` and `meta` then hold only what decisions are made by. */
  written?: WrittenEvent | undefined
  /** Secrets that were taken out, by JSON pointer; never written as they are. */
  hidden?: JsonObject | undefined
  /** Likewise, as this installation sealed them earlier: comes with an import. */
  sealed?: string | undefined
}

/** What was written in a thread, without its secrets. */
export interface WrittenEvent {
  parts: WrittenTexts
  /** Their lines in the checksum, where the event may be compared with a stored one. */
  checked: WrittenTexts | undefined
  /** The secrets as a JSON object. */
  hidden: string | undefined
}

export interface WrittenTexts {
  context: string | undefined
  result: string | undefined
  meta: string | undefined
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
  const { written } = event
  const before: (JsonValue | undefined)[] = [
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
  ]
  const after = [event.error, event.stackTrace, event.createdAtGiven ? event.createdAt : undefined]
  let text = ''
  for (const value of before) text += canonicalLine(value)
  for (const part of PARTS) {
    const line = written === undefined ? checkedPart(event[part]) : written.checked?.[part]
    text += `${line ?? ''}\n`
  }
  for (const value of after) text += canonicalLine(value)
  return sha256Hex(text)
}

const PARTS = ['context', 'result', 'meta'] as const
const LINE_MAX = 65_536

/** What stands for a part in the checksum. A long one is hashed on its own, so that a thread can do it beforehand. */
export function checkedPart(part: JsonValue | undefined): string | undefined {
  if (part === undefined) return undefined
  const text = canonicalJson(part)
  return text.length > LINE_MAX ? `sha256:${sha256Hex(text)}` : text
}

/** One line per field: canonical text has no line breaks, so an absent field cannot be mistaken for another. */
function canonicalLine(value: JsonValue | undefined): string {
  return value === undefined ? '\n' : `${canonicalJson(value)}\n`
}
