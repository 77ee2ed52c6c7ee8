// The partitions of noetl.event in SQL. DDL takes no parameters, so the three statements below are built from names
// and integers that are checked here again.
import type { Queryable, Tx } from '../../db/db.js'
import { queries, statement } from '../../db/queries.js'
import {
  type IdRange,
  isPlainName,
  type MonthPartition,
  parsePartitionBound,
} from '../../domain/retention/eventPartition.js'
import { CpError } from '../../errors.js'

const q = queries(
  'partition_list',
  'partition_now',
  'partition_lock',
  'partition_lock_timeout',
  'partition_default_holds',
  'partition_default_any',
)

export interface EventPartition {
  name: string
  /** Undefined for the default partition. */
  range: IdRange | undefined
  /** A plain table of our schema, so it may be dropped. */
  isPlain: boolean
  rowsEstimate: bigint
}

interface PartitionRow {
  name: string
  bound: string
  is_table: boolean
  is_ours: boolean
  rows_estimate: string
}

export async function listPartitions(db: Queryable): Promise<EventPartition[]> {
  const rows = await db.run<PartitionRow>(q.partition_list)
  return rows.map((row) => ({
    name: row.name,
    range: parsePartitionBound(row.bound),
    isPlain: row.is_table && row.is_ours && isPlainName(row.name),
    rowsEstimate: BigInt(row.rows_estimate),
  }))
}

export async function databaseNowMs(db: Queryable): Promise<number> {
  const [row] = await db.run<{ now_ms: string }>(q.partition_now)
  return Number(row!.now_ms)
}

export async function limitLockWait(tx: Tx, timeoutMs: number): Promise<void> {
  await tx.run(q.partition_lock_timeout, [String(timeoutMs)])
}

export async function lockPartitions(tx: Tx): Promise<void> {
  await tx.run(q.partition_lock)
}

export async function defaultHolds(db: Queryable, range: IdRange): Promise<boolean> {
  const [row] = await db.run<{ holds: boolean }>(q.partition_default_holds, [range.from, range.to])
  return row!.holds
}

export async function firstInDefault(db: Queryable): Promise<string | undefined> {
  const [row] = await db.run<{ execution_id: string }>(q.partition_default_any)
  return row?.execution_id
}

/** Made beside the table and then attached: `create … partition of` would lock out every reader and writer. */
export async function createPartition(tx: Tx, partition: MonthPartition): Promise<void> {
  const name = plainName(partition.name)
  await tx.run(statement(`create table noetl.${name} (like noetl.event including all)`))
  await tx.run(
    statement(
      `alter table noetl.event attach partition noetl.${name} for values from (${digits(partition.from)}) to (${digits(partition.to)})`,
    ),
  )
}

/** Keeps everybody else away from the partition until the transaction ends. */
export async function lockPartition(tx: Tx, name: string): Promise<void> {
  await tx.run(statement(`lock table only noetl.event, noetl.${plainName(name)} in access exclusive mode`))
}

/** Drops it, except for the events of the ids `kept`: without their partition they belong to the default one. */
export async function dropPartition(
  tx: Tx,
  name: string,
  kept: { ids: readonly string[]; columns: string },
): Promise<number> {
  const table = `noetl.${plainName(name)}`
  let moved = 0
  if (kept.ids.length > 0) {
    await tx.run(statement(`alter table noetl.event detach partition ${table}`))
    const { columns } = kept
    const move = `insert into noetl.event (${columns}) select ${columns} from ${table} where execution_id = any($1::bigint[])`
    moved = (await tx.run(statement(move), [kept.ids])).count
  }
  await tx.run(statement(`drop table ${table}`))
  return moved
}

function plainName(name: string): string {
  if (!isPlainName(name)) throw new CpError('internal', `${JSON.stringify(name)} is not a name for DDL`)
  return name
}

function digits(value: bigint): string {
  const text = String(value)
  if (!/^\d{1,19}$/.test(text)) throw new CpError('internal', `${text} is not a bound for DDL`)
  return `'${text}'`
}
