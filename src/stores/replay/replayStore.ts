// The log as replay reads it: in id order, page by page, on the caller's connection. Pages are cut by id, so
// that the next ones are already asked for while a page is being folded; rows are handed over one by one and
// never collected.
import type { Connection } from '../../db/connection.js'
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import type { LogRow } from './replayRows.js'

const q = queries(
  'replay_bound',
  'replay_page',
  'replay_page_timed',
  'replay_page_python',
  'replay_page_server',
  'replay_page_tape',
  'replay_news',
  'replay_stragglers',
  'replay_count',
  'replay_open_since',
  'replay_last_event_before',
  'replay_seed_check',
  'replay_log_version',
  'replay_read_model',
  'replay_owner',
  'replay_executions',
)

export type ReplayColumns = 'cp' | 'timed' | 'tape' | 'python' | 'server'

const PAGE_QUERY = {
  cp: q.replay_page,
  timed: q.replay_page_timed,
  tape: q.replay_page_tape,
  python: q.replay_page_python,
  server: q.replay_page_server,
}

export interface LogRange {
  executionId: string
  tenantId: string
  organizationId: string
  columns: ReplayColumns
  /** Both inclusive. */
  fromEventId: bigint
  toEventId: bigint
  /** Time without zone, UTC. */
  untilTime: string | null
  untilVersion: string | null
  pageSize: number
}

export interface LogReader {
  leftMs(): number
  /** Answers false when no more rows are wanted. */
  onRow(row: LogRow): boolean
  onPage?(): void
}

export async function readLog(connection: Connection, range: LogRange, reader: LogReader): Promise<void> {
  const { executionId, pageSize } = range
  let isDone = false

  const boundAfter = async (from: bigint): Promise<bigint | undefined> => {
    if (from > range.toEventId) return undefined
    const rows = await connection.run<{ event_id: string }>(
      q.replay_bound,
      [executionId, from, pageSize],
      reader.leftMs(),
    )
    return rows[0] === undefined ? undefined : BigInt(rows[0].event_id)
  }
  const readPage = async (from: bigint, bound: bigint | undefined): Promise<void> => {
    const last = bound === undefined || bound > range.toEventId ? range.toEventId : bound - 1n
    if (from > last || isDone) return
    const owner = range.columns === 'server' ? [] : [range.tenantId, range.organizationId]
    const values = [...owner, range.untilTime, range.untilVersion]
    await connection.each<LogRow>(
      PAGE_QUERY[range.columns],
      [executionId, from, last, ...values],
      reader.leftMs(),
      (row) => {
        if (!isDone) isDone = !reader.onRow(row)
      },
    )
  }

  // On the wire: this page, the bound after the next, the next page. So while a page arrives the server already
  // works on the one after it, and its bound is known when the turn comes.
  let bound = await boundAfter(range.fromEventId)
  let nextBound = bound === undefined ? undefined : await boundAfter(bound)
  let page = readPage(range.fromEventId, bound)
  while (bound !== undefined && !isDone) {
    const following = nextBound === undefined ? Promise.resolve(undefined) : boundAfter(nextBound)
    const next = readPage(bound, nextBound)
    for (const promise of [following, next]) promise.catch(() => undefined)
    await page
    reader.onPage?.()
    bound = nextBound
    nextBound = await following
    page = next
  }
  await page
  reader.onPage?.()
}

/** A short piece of the log, in one round trip. */
export function readPiece(
  connection: Connection,
  range: LogRange,
  deadlineMs: number,
  onRow: (row: LogRow) => void,
): Promise<void> {
  const { executionId, fromEventId, toEventId, tenantId, organizationId, untilTime, untilVersion } = range
  const values = [executionId, fromEventId, toEventId, tenantId, organizationId, untilTime, untilVersion]
  return connection.each<LogRow>(PAGE_QUERY[range.columns], values, deadlineMs, onRow)
}

/** Whatever came in before this moment is visible to every view that is taken from now on. */
export async function readOpenSince(connection: Connection, deadlineMs: number): Promise<WireTime> {
  const [row] = await connection.run<{ open_since: string }>(q.replay_open_since, [], deadlineMs)
  return wireTimeFromPostgres(row!.open_since, 'open_since')
}

export async function lastEventBefore(
  connection: Connection,
  key: { executionId: string; tenantId: string; organizationId: string },
  time: string,
  deadlineMs: number,
): Promise<string | null> {
  const values = [key.executionId, key.tenantId, key.organizationId, time]
  const [row] = await connection.run<{ event_id: string | null }>(q.replay_last_event_before, values, deadlineMs)
  return row?.event_id ?? null
}

/** Does the log still have exactly the events that the seed was made from? */
export async function checkSeed(
  connection: Connection,
  seed: { executionId: string; lastEventId: string; streamVersion: string },
  deadlineMs: number,
): Promise<{ hasLast: boolean; straggler: string | null }> {
  const values = [seed.executionId, seed.lastEventId, seed.streamVersion]
  const [row] = await connection.run<{ has_last: boolean; straggler: string | null }>(
    q.replay_seed_check,
    values,
    deadlineMs,
  )
  return { hasLast: row?.has_last ?? false, straggler: row?.straggler ?? null }
}

export async function readLogVersion(
  connection: Connection,
  executionId: string,
  deadlineMs: number,
): Promise<{ streamVersion: string | null; hasUnnumbered: boolean }> {
  const [row] = await connection.run<{ stream_version: string | null; has_unnumbered: boolean }>(
    q.replay_log_version,
    [executionId],
    deadlineMs,
  )
  return { streamVersion: row?.stream_version ?? null, hasUnnumbered: row?.has_unnumbered ?? false }
}

export interface LogChange extends LogOwner {
  version: string | null
  has_unnumbered: boolean
  has_last: boolean
  has_late: boolean
  event_count: number
  is_known: boolean
}

/** How far a log was read: up to this event, when it was numbered up to that version. */
export interface ReadSoFar {
  executionId: string
  owner: LogOwner
  lastEventId: string
  knownVersion: string
}

export async function readNews(connection: Connection, read: ReadSoFar, deadlineMs: number): Promise<LogChange> {
  const [row] = await connection.run<LogChange>(q.replay_news, soFar(read), deadlineMs)
  return row!
}

/** Events up to the last one read that got their number later, or have none yet. */
export function readStragglers(
  connection: Connection,
  read: ReadSoFar,
  limit: number,
  deadlineMs: number,
): Promise<{ event_id: string; stream_version: string | null }[]> {
  return connection.run(q.replay_stragglers, [...soFar(read), limit], deadlineMs)
}

function soFar({ executionId, lastEventId, knownVersion, owner }: ReadSoFar): string[] {
  return [executionId, lastEventId, knownVersion, owner.tenant_id, owner.organization_id]
}

export async function countLog(
  connection: Connection,
  { executionId, owner }: Pick<ReadSoFar, 'executionId' | 'owner'>,
  deadlineMs: number,
): Promise<number> {
  const values = [executionId, owner.tenant_id, owner.organization_id]
  const [row] = await connection.run<{ count: number }>(q.replay_count, values, deadlineMs)
  return row!.count
}

export interface ReadModelRow {
  status: string
  last_event_id: string | null
  last_event_type: string | null
  last_node_name: string | null
  event_count: string
  stream_version: string
  tenant_id: string
  organization_id: string
}

export async function readModel(
  connection: Connection,
  executionId: string,
  deadlineMs: number,
): Promise<ReadModelRow | undefined> {
  return (await connection.run<ReadModelRow>(q.replay_read_model, [executionId], deadlineMs))[0]
}

export interface LogOwner {
  tenant_id: string
  organization_id: string
}

/** Undefined: the execution is unknown. */
export async function findOwner(db: Queryable, executionId: string): Promise<LogOwner | undefined> {
  return (await db.run<LogOwner>(q.replay_owner, [executionId]))[0]
}

export interface ListedLog extends LogOwner {
  execution_id: string
  event_count: string
}

export function listLogs(db: Queryable, after: string, limit: number, since: string | null): Promise<ListedLog[]> {
  return db.run<ListedLog>(q.replay_executions, [after, limit, since])
}
