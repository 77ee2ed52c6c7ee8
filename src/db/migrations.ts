// Applies numbered SQL files, each in one transaction under an advisory lock: of several processes that start at
// once, one applies and the others find nothing left to do. An empty database gets all files in one transaction, so
// that others see either no schema or all of it. Each file is recorded with a checksum; a database newer than this
// program is refused.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeTarget } from '../domain/shards/databaseTarget.js'
import { CpError } from '../errors.js'
import { type Connection, type ConnectionSettings, createConnection } from './connection.js'
import { type Query, SQL_FOLDER, statement } from './queries.js'

export interface Migration {
  version: number
  name: string
  sql: string
  checksum: string
}

export interface MigrationState {
  database: string
  /** False while there is no table of ours; an administrator may have made the empty schema beforehand. */
  schemaExists: boolean
  applied: { version: number; name: string; appliedAt: string }[]
  pending: Migration[]
}

const LOCK_KEY = '7020251116001'
const LOCK_DEADLINE_MS = 120_000
const MIGRATION_DEADLINE_MS = 3_600_000

const READ_SCHEMA: Query = {
  name: 'migration_schema',
  text: `select exists (select 1 from pg_class where relnamespace = to_regnamespace('noetl') and relkind in ('r', 'p')) as schema_exists, to_regclass('noetl.cp_migration') is not null as table_exists`,
}
const READ_APPLIED: Query = {
  name: 'migration_list',
  text: 'select version, name, checksum, applied_at::text as applied_at from noetl.cp_migration order by version',
}
const RECORD: Query = {
  name: 'migration_record',
  text: 'insert into noetl.cp_migration (version, name, checksum) values ($1, $2, $3)',
}
const LOCK: Query = { name: 'migration_lock', text: 'select pg_advisory_xact_lock($1::bigint)' }
const UNLIMITED = statement(
  `select set_config('statement_timeout', '0', true), set_config('lock_timeout', '60s', true), set_config('idle_in_transaction_session_timeout', '0', true)`,
)
const CREATE_TABLE = `
  create schema if not exists noetl;
  create table if not exists noetl.cp_migration (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`

export function loadMigrations(folder = join(SQL_FOLDER, 'migrations')): Migration[] {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
  return files.map((file, index) => {
    const version = Number(file.slice(0, 4))
    if (version !== index + 1) throw new CpError('internal', `migration ${file} is out of sequence`)
    const sql = readFileSync(join(folder, file), 'utf8')
    return { version, name: file.slice(5, -4), sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

export async function migrationState(
  settings: ConnectionSettings,
  migrations = loadMigrations(),
): Promise<MigrationState> {
  const connection = createConnection(settings)
  try {
    return await readState(connection, settings, migrations)
  } finally {
    await connection.close(2000)
  }
}

/** Applies what is pending and answers what was applied. `upTo` stops early, for tests of upgrades. */
export async function applyMigrations(
  settings: ConnectionSettings,
  options: { migrations?: Migration[]; upTo?: number; onApplied?: (migration: Migration) => void } = {},
): Promise<Migration[]> {
  const migrations = options.migrations ?? loadMigrations()
  const connection = createConnection({ ...settings, statementTimeoutMs: MIGRATION_DEADLINE_MS })
  const applied: Migration[] = []
  try {
    for (;;) {
      const batch = await applyNext(connection, settings, migrations, options.upTo ?? migrations.length)
      if (batch.length === 0) return applied
      applied.push(...batch)
      for (const migration of batch) options.onApplied?.(migration)
    }
  } finally {
    await connection.close(2000)
  }
}

async function applyNext(
  connection: Connection,
  settings: ConnectionSettings,
  migrations: Migration[],
  upTo: number,
): Promise<Migration[]> {
  return alone(connection, async () => {
    const state = await readState(connection, settings, migrations)
    const pending = state.pending.filter((migration) => migration.version <= upTo)
    const batch = state.schemaExists ? pending.slice(0, 1) : pending
    if (batch.length > 0) await connection.script(CREATE_TABLE, 30_000)
    for (const migration of batch) {
      await connection.script(migration.sql, MIGRATION_DEADLINE_MS)
      await connection.run(RECORD, [migration.version, migration.name, migration.checksum], 30_000)
    }
    return batch
  })
}

export function loadRemoval(): string {
  return readFileSync(join(SQL_FOLDER, 'remove.sql'), 'utf8')
}

/** The way back: what only noetl-cp needs goes. */
export async function removeMigrations(settings: ConnectionSettings): Promise<void> {
  const connection = createConnection({ ...settings, statementTimeoutMs: MIGRATION_DEADLINE_MS })
  try {
    await alone(connection, () => connection.script(loadRemoval(), MIGRATION_DEADLINE_MS))
  } finally {
    await connection.close(2000)
  }
}

/** In one transaction, with no other migration at the same time. */
async function alone<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  await connection.run(statement('begin'), [], 10_000)
  try {
    await connection.run(UNLIMITED, [], 10_000)
    await connection.run(LOCK, [LOCK_KEY], LOCK_DEADLINE_MS)
    const result = await work()
    await connection.run(statement('commit'), [], 60_000)
    return result
  } catch (error) {
    if (!connection.isBroken())
      await connection.run(statement('rollback'), [], 10_000).catch(() => connection.discard())
    throw error
  }
}

async function readState(
  connection: Connection,
  settings: ConnectionSettings,
  migrations: Migration[],
): Promise<MigrationState> {
  const database = describeTarget(settings.target)
  const [schema] = await connection.run<{ schema_exists: boolean; table_exists: boolean }>(READ_SCHEMA, [], 10_000)
  const rows = schema?.table_exists
    ? await connection.run<{ version: number; name: string; checksum: string; applied_at: string }>(
        READ_APPLIED,
        [],
        10_000,
      )
    : []
  refuseOtherHistory(database, rows, migrations)
  const done = new Set(rows.map((row) => row.version))
  return {
    database,
    schemaExists: schema?.schema_exists ?? false,
    applied: rows.map((row) => ({ version: row.version, name: row.name, appliedAt: row.applied_at })),
    pending: migrations.filter((migration) => !done.has(migration.version)),
  }
}

/** What was applied must be what this binary would apply: anything else is refused before a byte is changed. */
function refuseOtherHistory(
  database: string,
  rows: readonly { version: number; name: string; checksum: string }[],
  migrations: readonly Migration[],
): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]))
  for (const { version, name } of rows) {
    const own = known.get(version)
    if (own === undefined || own.name === name) continue
    throw new CpError(
      'schema_mismatch',
      `the database ${database} was made by an earlier build of noetl-cp (its migration ${version} is ${name}, here it is ${own.name}) and cannot be upgraded; nothing was changed. Use that build, or give this one a new database or data folder and import the events: "noetl-cp events export" there, "noetl-cp events import" here`,
    )
  }
  const newer = rows.find(({ version }) => !known.has(version))
  if (newer !== undefined) {
    throw new CpError(
      'schema_mismatch',
      `the database ${database} has migration ${newer.version} (${newer.name}), this binary knows only ${migrations.length}; install a newer noetl-cp`,
    )
  }
  const edited = rows.find(({ version, checksum }) => known.get(version)?.checksum !== checksum)
  if (edited !== undefined) {
    throw new CpError(
      'schema_mismatch',
      `migration ${edited.version} (${edited.name}) on ${database} differs from the file of this binary; was it edited after release?`,
    )
  }
}
