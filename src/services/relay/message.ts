// An outbox row → the message on the stream: subject, headers, body. What can never be published is told
// here, before anything is sent.

import { headerBytes, type OutMessage } from '../../bus/publisher.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { assertPublishableSubject } from '../../domain/subject.js'
import { messageOf } from '../../errors.js'
import type { OutboxRow } from '../../stores/outboxStore.js'

export interface MessageSettings {
  /** This installation, in the origin header. */
  clusterId: string
  /** For rows without a subject of their own. */
  subjectOf(row: OutboxRow): string
  /** Subjects must lie under this prefix, or the stream would not take them. */
  subjectPrefix: string
  /** Where consumers resolve messages that were too large. */
  publicUrl: string
}

export type BuiltMessage = { ok: true; message: OutMessage } | { ok: false; reason: string }

export const MESSAGE_ID_HEADER = 'Nats-Msg-Id'
export const OUTBOX_ID_HEADER = 'Noetl-Outbox-Id'
export const CLAIM_CHECK_HEADER = 'Noetl-Claim-Check'

export function messageId(row: { execution_id: string | null; event_id: string }): string {
  return `${row.execution_id ?? 'none'}:${row.event_id}`
}

export function toMessage(row: OutboxRow, maxPayload: number, settings: MessageSettings): BuiltMessage {
  const subject = row.subject ?? settings.subjectOf(row)
  try {
    assertPublishableSubject(subject)
  } catch (error) {
    return { ok: false, reason: messageOf(error) }
  }
  if (!subject.startsWith(`${settings.subjectPrefix}.`)) {
    return { ok: false, reason: `subject ${subject} is outside ${settings.subjectPrefix}.>, which the stream takes` }
  }
  const headers = headersOf(row, settings)
  // No header and no encoding makes text shorter, so most rows need no exact count.
  const bytes = row.payload.length * 3 + 2_048 < maxPayload ? 0 : Buffer.byteLength(row.payload) + headerBytes(headers)
  if (bytes <= maxPayload) return { ok: true, message: { subject, headers, body: row.payload } }
  const reference = claimCheck(row, settings)
  headers.push([CLAIM_CHECK_HEADER, reference.url])
  return { ok: true, message: { subject, headers, body: reference.body } }
}

function headersOf(row: OutboxRow, settings: MessageSettings): [string, string][] {
  const headers: [string, string][] = [
    [MESSAGE_ID_HEADER, messageId(row)],
    ['Noetl-Origin', settings.clusterId],
    [OUTBOX_ID_HEADER, row.outbox_id],
  ]
  if (row.execution_id !== null) headers.push(['Noetl-Execution-Id', row.execution_id])
  if (row.stream_version !== null && /^\d+$/.test(row.stream_version))
    headers.push(['Noetl-Stream-Version', row.stream_version])
  if (row.event_type !== null && isHeaderText(row.event_type)) headers.push(['Noetl-Event-Type', row.event_type])
  if (row.trace !== null) headers.push(...traceHeaders(row.trace))
  return headers
}

/** Values go out as one header line: nothing that could end it. */
function isHeaderText(text: string): boolean {
  return text.length <= 256 && /^[\x20-\x7e]+$/.test(text)
}

function traceHeaders(text: string): [string, string][] {
  const trace = parseJson(text)
  if (!isJsonObject(trace)) return []
  return ['traceparent', 'tracestate'].flatMap((name): [string, string][] => {
    const value = trace[name]
    return typeof value === 'string' && value.length <= 512 && /^[\x20-\x7e]+$/.test(value) ? [[name, value]] : []
  })
}

const KEPT = [
  'event_id',
  'execution_id',
  'catalog_id',
  'parent_execution_id',
  'stream_version',
  'event_type',
  'node_name',
  'status',
  'timestamp',
  'tenant_id',
  'organization_id',
]

/** The small fields of the envelope, and where the whole of it can be had. */
function claimCheck(row: OutboxRow, settings: MessageSettings): { url: string; body: string } {
  const url = `${settings.publicUrl}/api/outbox/payload/${row.execution_id ?? 'none'}/${row.event_id}`
  const envelope = parseJson(row.payload)
  const small: JsonObject = {}
  if (isJsonObject(envelope)) for (const key of KEPT) if (envelope[key] !== undefined) small[key] = envelope[key]
  small['claim_check'] = { url, bytes: Buffer.byteLength(row.payload) }
  return { url, body: writeJson(small) }
}
