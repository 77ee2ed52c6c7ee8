// Is a published row still in the stream, gone because its time was over, or lost? Decided from the row, what the
// stream holds at its sequence, and how the stream is configured.

export interface AuditedRow {
  seq: number
  messageId: string
  publishedMs: number
}

export interface StreamBounds {
  firstSeq: number
  createdMs: number
  /** 0: messages do not age out. */
  maxAgeMs: number
  isBoundedBySize: boolean
}

export type Verdict = 'present' | 'agedOut' | 'missing'

// A row may be settled some time after its message was stored, and two servers have two clocks.
const SLACK_MS = 300_000

export function auditRow(row: AuditedRow, held: string | undefined, stream: StreamBounds, nowMs: number): Verdict {
  if (held === row.messageId) return 'present'
  if (stream.maxAgeMs > 0 && row.publishedMs <= nowMs - stream.maxAgeMs + Math.min(SLACK_MS, stream.maxAgeMs / 2))
    return 'agedOut'
  // Made anew after it was published: the sequence is one of another life.
  if (stream.createdMs > row.publishedMs) return 'missing'
  return row.seq < stream.firstSeq && stream.isBoundedBySize ? 'agedOut' : 'missing'
}
