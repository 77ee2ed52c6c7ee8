// The outcome of an audit as JSON, for the command and for the job.
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import type { AuditReport, MissingRow } from './audit.js'

export function auditReportJson(report: AuditReport): JsonObject {
  return {
    stream_exists: report.streamExists,
    complete: report.complete,
    checked: report.checked,
    missing: report.missing,
    aged_out: report.agedOut,
    unverified: report.unverified,
    first_missing: missingJson(report.firstMissing),
    last_missing: missingJson(report.lastMissing),
    republished: report.republished.length,
  }
}

export function missingJson(row: MissingRow | undefined): JsonValue {
  if (row === undefined) return null
  return {
    shard: row.shard,
    outbox_id: row.outboxId,
    execution_id: row.executionId,
    event_id: row.eventId,
    stream_seq: row.seq,
    published_at: row.publishedAt,
  }
}
