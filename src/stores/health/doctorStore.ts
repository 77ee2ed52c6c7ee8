// Reads the catalogues and statistics that `doctor` judges.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'doctor_columns',
  'doctor_indexes',
  'doctor_dead_tuples',
  'doctor_old_transactions',
  'doctor_settings',
  'doctor_tables',
)

export interface SchemaDescription {
  /** Table → column → type. */
  tables: Record<string, Record<string, string>>
  /** Index → definition. */
  indexes: Record<string, string>
}

export interface FoundSchema extends SchemaDescription {
  invalidIndexes: string[]
}

export async function describeSchema(db: Queryable): Promise<FoundSchema> {
  const columns = await db.run<{ table_name: string; column_name: string; type: string }>(q.doctor_columns)
  const indexes = await db.run<{ index_name: string; definition: string; valid: boolean }>(q.doctor_indexes)
  const tables: Record<string, Record<string, string>> = {}
  for (const row of columns) {
    tables[row.table_name] ??= {}
    tables[row.table_name]![row.column_name] = row.type
  }
  return {
    tables,
    indexes: Object.fromEntries(indexes.map((row) => [row.index_name, row.definition])),
    invalidIndexes: indexes.filter((row) => !row.valid).map((row) => row.index_name),
  }
}

export interface DeadTuples {
  table_name: string
  live: string
  dead: string
  last_autovacuum: string | null
}

export function listDeadTuples(db: Queryable, want: { deadMin: number; percentMin: number }): Promise<DeadTuples[]> {
  return db.run<DeadTuples>(q.doctor_dead_tuples, [want.deadMin, want.percentMin])
}

export interface OldTransaction {
  pid: number
  usename: string | null
  application_name: string | null
  state: string | null
  seconds: number
  query: string | null
}

export function listOldTransactions(db: Queryable, olderThanSeconds: number): Promise<OldTransaction[]> {
  return db.run<OldTransaction>(q.doctor_old_transactions, [olderThanSeconds])
}

export async function readServerSettings(db: Queryable): Promise<Record<string, string>> {
  const rows = await db.run<{ name: string; setting: string }>(q.doctor_settings)
  return Object.fromEntries(rows.map((row) => [row.name, row.setting]))
}

export async function listTables(db: Queryable): Promise<string[]> {
  const rows = await db.run<{ name: string }>(q.doctor_tables)
  return rows.map((row) => row.name)
}
