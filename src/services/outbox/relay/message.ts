// Turns an outbox row into the message on the stream: subject, headers, body. A row that can never be published is
// refused here, before anything is sent.

import type { OutMessage } from '../../../bus/publisher.js'
import { noticeOf } from '../../../domain/commands/commandNotice.js'
import { parseJson } from '../../../domain/json/parse.js'
import { skimMembers } from '../../../domain/json/skim.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { assertPublishableSubject } from '../../../domain/outbox/subject.js'
import { messageOf } from '../../../errors.js'
import type { OutboxRow } from '../../../stores/outbox/outboxStore.js'

export interface MessageSettings {
  /** This installation, in the origin header. */
  clusterId: string
  /** For rows without a subject of their own. */
  subjectOf(row: OutboxRow): string
  /** Subjects must lie under this prefix, or the stream would not take them. */
  subjectPrefix: string
  /** Where consumers resolve messages that were too large. */
  publicUrl(): string
  /** Whether workers are told of commands. */
  tellsWorkers(): boolean
}

export type BuiltMessage = { ok: true; message: OutMessage; isReference: boolean } | { ok: false; reason: string }

export const MESSAGE_ID_HEADER = 'Nats-Msg-Id'
/** Names the installation that published a message. */
export const ORIGIN_HEADER = 'Noetl-Origin'
export const OUTBOX_ID_HEADER = 'Noetl-Outbox-Id'
/** Newer messages of the execution may be in the stream before this one. */
export const LATE_HEADER = 'Noetl-Late'
export const CLAIM_CHECK_HEADER = 'Noetl-Claim-Check'

export function messageId(row: { execution_id: string | null; event_id: string }): string {
  return `${row.execution_id ?? 'none'}:${row.event_id}`
}

/** A message of at most `maxBytes`: the envelope, or a reference to it where that is too large. */
export function toMessage(row: OutboxRow, maxBytes: number, settings: MessageSettings): BuiltMessage {
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
  // A character takes at most three bytes, so most rows need no exact count.
  const isSmall = row.payload.length * 3 + 2_048 < maxBytes
  if (isSmall || Buffer.byteLength(row.payload) + headers.length + 16 <= maxBytes) {
    return { ok: true, message: { subject, headers, body: row.payload }, isReference: false }
  }
  const reference = claimCheck(row, settings)
  return {
    ok: true,
    message: { subject, headers: `${headers}${CLAIM_CHECK_HEADER}: ${reference.url}\r\n`, body: reference.body },
    isReference: true,
  }
}

/** The same message, which the broker refuses when the last one of its subject is another than `lastSeq` (0: none). */
export function expectingLast(message: OutMessage, lastSeq: number): OutMessage {
  return { ...message, headers: `${message.headers}Nats-Expected-Last-Subject-Sequence: ${lastSeq}\r\n` }
}

/** What goes to the workers once the event itself is stored; undefined for every row that is no command of theirs. */
export function toNotice(row: OutboxRow, settings: MessageSettings): OutMessage | undefined {
  if (row.event_type !== 'command.issued' || !settings.tellsWorkers()) return undefined
  const notice = noticeOf(row.payload, settings.publicUrl())
  if (notice === undefined) return undefined
  return { subject: notice.subject, headers: `${MESSAGE_ID_HEADER}: ${notice.messageId}\r\n`, body: notice.body }
}

/** Lines of the header block. Everything in it is ASCII without line breaks. */
function headersOf(row: OutboxRow, settings: MessageSettings): string {
  let lines = `${MESSAGE_ID_HEADER}: ${messageId(row)}\r\n${ORIGIN_HEADER}: ${settings.clusterId}\r\n${OUTBOX_ID_HEADER}: ${row.outbox_id}\r\n`
  if (row.has_failed) lines += `${LATE_HEADER}: 1\r\n`
  if (row.execution_id !== null) lines += `Noetl-Execution-Id: ${row.execution_id}\r\n`
  if (row.stream_version !== null && /^\d+$/.test(row.stream_version))
    lines += `Noetl-Stream-Version: ${row.stream_version}\r\n`
  if (row.event_type !== null && isHeaderText(row.event_type)) lines += `Noetl-Event-Type: ${row.event_type}\r\n`
  if (row.trace !== null) lines += traceHeaders(row.trace)
  return lines
}

/** Values go out as one header line: nothing that could end it. */
function isHeaderText(text: string): boolean {
  return text.length <= 512 && /^[\x20-\x7e]+$/.test(text)
}

function traceHeaders(text: string): string {
  const trace = parseJson(text)
  if (!isJsonObject(trace)) return ''
  let lines = ''
  for (const name of ['traceparent', 'tracestate']) {
    const value = trace[name]
    if (typeof value === 'string' && isHeaderText(value)) lines += `${name}: ${value}\r\n`
  }
  return lines
}

const KEPT = new Set([
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
])

/** The small fields of the envelope, and where the whole of it can be had. */
function claimCheck(row: OutboxRow, settings: MessageSettings): { url: string; body: string } {
  const url = `${settings.publicUrl()}/api/outbox/payload/${row.execution_id ?? 'none'}/${row.event_id}`
  const small: JsonObject = {}
  // Reading all of it would hold up everybody else.
  for (const [key, text] of skimMembers(row.payload, KEPT)) small[key] = parseJson(text)
  small['claim_check'] = { url, bytes: Buffer.byteLength(row.payload) }
  return { url, body: writeJson(small) }
}
