// Compares what Postgres says was published with what the stream really holds. JetStream may lose messages it
// has acknowledged (power cut, restored volume, deleted stream); the rows are still here for a window, so the
// gap can be named and closed. Rows are read in pages in the order of their settlement; memory stays flat.
import type { Bus } from '../../bus/connect.js'
import { readMessageIds, readStreamFacts, type StreamFacts } from '../../bus/streamReader.js'
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import { type WireTime, wireTimeFromPostgres, wireTimeToMicros } from '../../domain/events/wireTime.js'
import { compareIds } from '../../domain/ids/ids.js'
import { auditRow } from '../../domain/outbox/audit.js'
import type { Clock } from '../../runtime/clock.js'
import {
  type AuditRow,
  countUnpublished,
  pageOfPublished,
  republishRows,
} from '../../stores/outbox/outboxAdminStore.js'
import { messageId } from './relay/message.js'

export interface AuditDeps {
  databases: Databases
  bus: Bus
  clock: Clock
  stream: string
  streamMaxAgeMs: number
}

export interface AuditRequest {
  /** Only rows published since. */
  since: WireTime | undefined
  shard: number | undefined
  /** Send missing rows back to be published again, at most this many. */
  republish: number | undefined
  signal: AbortSignal
  onProgress(checked: number): void
}

export interface MissingRow {
  shard: number
  outboxId: string
  executionId: string | null
  eventId: string
  publishedAt: WireTime
  seq: string
}

export interface AuditReport {
  streamExists: boolean
  /** Rows compared with the stream. */
  checked: number
  missing: number
  firstMissing: MissingRow | undefined
  lastMissing: MissingRow | undefined
  sample: MissingRow[]
  /** Gone from the stream because its limits said so; no loss. */
  agedOut: number
  /** Published by others, who did not say where the stream put them. */
  unverified: number
  republished: { shard: number; outboxId: string }[]
  complete: boolean
}

const PAGE = 5_000
const SAMPLE = 20
const BEGINNING = '1970-01-01T00:00:00.000000+00:00'
// Beyond the duplicate window, for clocks that differ.
const WINDOW_SLACK_MS = 1_000

export async function auditOutbox(deps: AuditDeps, request: AuditRequest): Promise<AuditReport> {
  const report: AuditReport = {
    streamExists: (await readStreamFacts(deps.bus.connection(), deps.stream)) !== undefined,
    checked: 0,
    missing: 0,
    firstMissing: undefined,
    lastMissing: undefined,
    sample: [],
    agedOut: 0,
    unverified: 0,
    republished: [],
    complete: true,
  }
  for (const [shard, { db }] of deps.databases.shards.entries()) {
    if (request.shard !== undefined && request.shard !== shard) continue
    await auditShard(deps, request, { db, shard }, report)
  }
  return report
}

interface Scope {
  db: Db
  shard: number
}

async function auditShard(deps: AuditDeps, request: AuditRequest, scope: Scope, report: AuditReport): Promise<void> {
  let after = { publishedAt: request.since ?? BEGINNING, outboxId: '-1' }
  for (;;) {
    if (request.signal.aborted) {
      report.complete = false
      return
    }
    const rows = await pageOfPublished(scope.db, after, PAGE)
    if (rows.length === 0) return
    // After the rows: whatever they say was stored before this look at the stream.
    const facts = await readStreamFacts(deps.bus.connection(), deps.stream)
    const missing = await auditPage(deps, scope.shard, facts, rows, report)
    if (missing.length > 0) await onMissing(request, scope, facts, missing, report)
    request.onProgress(report.checked)
    const last = rows[rows.length - 1]!
    after = { publishedAt: last.published_at, outboxId: last.outbox_id }
    if (rows.length < PAGE) return
  }
}

async function auditPage(
  deps: AuditDeps,
  shard: number,
  facts: StreamFacts | undefined,
  rows: readonly AuditRow[],
  report: AuditReport,
): Promise<MissingRow[]> {
  const numbered = rows.filter((row) => row.stream_seq !== null)
  report.unverified += rows.length - numbered.length
  report.checked += numbered.length
  const held = await idsHeld(deps, facts, numbered)
  const nowMs = deps.clock.now()
  const bounds = facts ?? {
    firstSeq: 1,
    createdMs: nowMs,
    maxAgeMs: deps.streamMaxAgeMs,
    isBoundedBySize: false,
  }
  const missing: MissingRow[] = []
  for (const row of numbered) {
    const seq = Number(row.stream_seq)
    const publishedAt = wireTimeFromPostgres(row.published_at, 'published_at')
    const audited = { seq, messageId: messageId(row), publishedMs: millisOf(publishedAt) }
    const verdict = auditRow(audited, held.get(seq), bounds, nowMs)
    if (verdict === 'agedOut') report.agedOut += 1
    if (verdict !== 'missing') continue
    missing.push({
      shard,
      outboxId: row.outbox_id,
      executionId: row.execution_id,
      eventId: row.event_id,
      publishedAt,
      seq: row.stream_seq!,
    })
  }
  return missing
}

async function idsHeld(
  deps: AuditDeps,
  facts: StreamFacts | undefined,
  rows: readonly AuditRow[],
): Promise<Map<number, string>> {
  if (facts === undefined) return new Map()
  const seqs = [...new Set(rows.map((row) => Number(row.stream_seq)))]
    .filter((seq) => seq >= facts.firstSeq && seq <= facts.lastSeq)
    .sort((left, right) => left - right)
  return readMessageIds(deps.bus.connection(), deps.stream, seqs)
}

async function onMissing(
  request: AuditRequest,
  { db, shard }: Scope,
  facts: StreamFacts | undefined,
  missing: readonly MissingRow[],
  report: AuditReport,
): Promise<void> {
  report.missing += missing.length
  for (const row of missing) {
    // By their place in the stream: rows are read in the order of their settlement, which is nearly the same.
    if (report.firstMissing === undefined || compareIds(row.seq, report.firstMissing.seq) < 0) report.firstMissing = row
    if (report.lastMissing === undefined || compareIds(row.seq, report.lastMissing.seq) > 0) report.lastMissing = row
  }
  report.sample.push(...missing.slice(0, SAMPLE - report.sample.length))
  if (request.republish === undefined) return
  // By id: where the bound cuts, no row of an execution goes without the earlier ones of this page.
  const chosen = [...missing]
    .sort((left, right) => compareIds(left.outboxId, right.outboxId))
    .slice(0, request.republish - report.republished.length)
    .map((row) => ({ outboxId: row.outboxId, seq: row.seq, notBeforeMs: notBefore(row, facts) }))
  for (const outboxId of await republishRows(db, chosen)) report.republished.push({ shard, outboxId })
}

/** The stream would take a message for a repetition while it still remembers the id, and not store it. */
function notBefore(row: MissingRow, facts: StreamFacts | undefined): number {
  const publishedMs = millisOf(row.publishedAt)
  if (facts === undefined || facts.createdMs > publishedMs) return 0
  return publishedMs + facts.duplicateWindowMs + WINDOW_SLACK_MS
}

function millisOf(time: WireTime): number {
  return Number(wireTimeToMicros(time) / 1_000n)
}

const WAIT_MS = 200

/** Waits until every row that was sent back has been published again; false when time ran out. */
export async function untilRepublished(
  deps: AuditDeps,
  rows: AuditReport['republished'],
  options: { maxMs: number; signal: AbortSignal },
): Promise<boolean> {
  const until = deps.clock.monotonic() + options.maxMs
  let left = [...rows]
  while (left.length > 0) {
    const first = left[0]!.shard
    const some = left.filter((row) => row.shard === first).slice(0, PAGE)
    const db = deps.databases.shards[first]!.db
    const waiting = await countUnpublished(
      db,
      some.map((row) => row.outboxId),
    )
    if (waiting === 0) {
      const done = new Set(some)
      left = left.filter((row) => !done.has(row))
      continue
    }
    if (options.signal.aborted || deps.clock.monotonic() > until) return false
    await deps.clock.sleep(WAIT_MS, options.signal)
  }
  return true
}
