// What live states read of the log: the tail of one execution, where many stand, which have not ended; and the
// keys of decisions that were made.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { Fence } from '../leases/leaseStore.js'
import { readLines, type TailEvent } from './tailEvent.js'

export type { TailEvent } from './tailEvent.js'

const q = queries(
  'state_tails',
  'state_has_sealed',
  'state_heads',
  'state_active',
  'state_digest_ids',
  'decision_reserve',
  'decision_follow',
  'decision_release',
  'decision_forget',
  'state_notify',
)

interface TailRow {
  head: string
  execution_status: string
  tenant_id: string
  organization_id: string
  engine: number | null
  unadopted: boolean
  mark: string | null
  /** Of each event: what it is, context, result, meta. */
  lines: string | null
}

export interface Tail {
  /** The last version of the log at that moment. */
  head: number
  status: string
  tenantId: string
  organizationId: string
  /** The version of the engine that drives it; undefined when nobody does. */
  engine: number | undefined
  /** Rows of others wait for their number. */
  unadopted: boolean
  /** The event after which it was asked for; undefined when that is not there. */
  mark: string | undefined
  /** In the order of versions. */
  events: TailEvent[]
  /** Nothing more was there. */
  isWhole: boolean
}

/** One view of the log; undefined when the execution has no row. */
export async function readTail(
  db: Queryable,
  executionId: string,
  afterVersion: number,
  limit: number,
): Promise<Tail | undefined> {
  return (await readTails(db, [{ executionId, afterVersion }], limit)).get(executionId)
}

/** The same for several executions, of each at most `limit` events. */
export async function readTails(
  db: Queryable,
  wanted: readonly { executionId: string; afterVersion: number }[],
  limit: number,
): Promise<Map<string, Tail>> {
  const rows = await db.run<TailRow & { execution_id: string }>(q.state_tails, [
    wanted.map(({ executionId }) => executionId),
    wanted.map(({ afterVersion }) => afterVersion),
    limit,
  ])
  const parts = new Map<string, TailRow[]>()
  for (const row of rows) {
    const known = parts.get(row.execution_id)
    if (known === undefined) parts.set(row.execution_id, [row])
    else known.push(row)
  }
  return new Map([...parts].map(([id, list]) => [id, tailOf(id as ExecutionId, list, limit)]))
}

function tailOf(executionId: ExecutionId, rows: readonly TailRow[], limit: number): Tail {
  const first = rows[0]!
  const events = rows.flatMap((row) => readLines(executionId, row.lines))
  return {
    head: Number(first.head),
    status: first.execution_status,
    tenantId: first.tenant_id,
    organizationId: first.organization_id,
    engine: first.engine ?? undefined,
    unadopted: first.unadopted,
    mark: first.mark ?? undefined,
    events,
    isWhole: events.length < limit,
  }
}

/** Asked once, for a state that was not built from the log. */
export async function hasSealed(db: Queryable, executionId: string): Promise<boolean> {
  const [row] = await db.run<{ found: boolean }>(q.state_has_sealed, [executionId])
  return row?.found === true
}

export interface Head {
  executionId: string
  version: number
  status: string
}

export async function readHeads(db: Queryable, executionIds: readonly string[]): Promise<Head[]> {
  const rows = await db.run<{ execution_id: string; stream_version: string; status: string }>(q.state_heads, [
    executionIds,
  ])
  return rows.map((row) => ({
    executionId: row.execution_id,
    version: Number(row.stream_version),
    status: row.status,
  }))
}

/** In id order, after the one given. */
export async function listActive(
  db: Queryable,
  after: string,
  limit: number,
): Promise<{ executionId: string; version: number }[]> {
  const rows = await db.run<{ execution_id: string; stream_version: string }>(q.state_active, [after, limit])
  return rows.map((row) => ({ executionId: row.execution_id, version: Number(row.stream_version) }))
}

export async function readEventIds(
  db: Queryable,
  executionId: string,
  range: { after: number; upTo: number; limit: number },
): Promise<{ eventId: string; version: number }[]> {
  const rows = await db.run<{ event_id: string; stream_version: string }>(q.state_digest_ids, [
    executionId,
    range.after,
    range.upTo,
    range.limit,
  ])
  return rows.map((row) => ({ eventId: row.event_id, version: Number(row.stream_version) }))
}

/** Answers those that were not made before, as `execution:key`. */
export async function reserveDecisions(
  tx: Tx,
  decisions: readonly { executionId: string; key: string; version: number }[],
): Promise<Set<string>> {
  const rows = await tx.run<{ execution_id: string; key: string }>(q.decision_reserve, [
    decisions.map((row) => row.executionId),
    decisions.map((row) => row.key),
    decisions.map((row) => row.version),
  ])
  return new Set(rows.map((row) => `${row.execution_id}:${row.key}`))
}

/** Under leases of one owner; fails if one of the decisions was made before, or without its lease. */
export async function followDecisions(
  tx: Tx,
  decisions: readonly { executionId: string; key: string; version: number; fence: Fence }[],
): Promise<void> {
  const { kind, owner } = decisions[0]!.fence
  await tx.run(q.decision_follow, [
    kind,
    owner,
    decisions.map(({ fence }) => fence.slot),
    decisions.map(({ fence }) => fence.token),
    decisions.map((row) => row.executionId),
    decisions.map((row) => row.key),
    decisions.map((row) => row.version),
  ])
}

/** Takes back what was claimed in this transaction. */
export async function releaseDecisions(
  tx: Tx,
  decisions: readonly { executionId: string; key: string }[],
): Promise<void> {
  await tx.run(q.decision_release, [decisions.map((row) => row.executionId), decisions.map((row) => row.key)])
}

export async function forgetDecisions(db: Queryable, executionId: string): Promise<void> {
  await db.run(q.decision_forget, [executionId])
}

/** At most about 8 kB per message. */
export async function notifyDrivers(db: Queryable, payload: string): Promise<void> {
  await db.run(q.state_notify, [payload])
}
