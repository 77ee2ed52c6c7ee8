// What commands and the daemon may ask about the schema: its state, and to bring it up to date,
// on every database of the installation.
import type { Databases, NamedDatabase } from '../../db/databases.js'
import { applyMigrations, type Migration, type MigrationState, migrationState } from '../../db/migrations.js'
import { CpError, isTransient, toCpError } from '../../errors.js'

export interface SchemaState extends MigrationState {
  label: string
}

export async function schemaStates(databases: Databases): Promise<SchemaState[]> {
  return Promise.all(databases.all.map(async ({ label, settings }) => ({ label, ...(await migrationState(settings)) })))
}

export interface Migrated {
  label: string
  applied: Migration[]
}

/** One database after the other, so that a failure stops before the next is touched. */
export async function migrateAll(
  databases: Databases,
  onApplied: (label: string, migration: Migration) => void = () => undefined,
): Promise<Migrated[]> {
  const result: Migrated[] = []
  for (const { label, settings } of databases.all) {
    const applied = await applyMigrations(settings, { onApplied: (migration) => onApplied(label, migration) })
    result.push({ label, applied })
  }
  return result
}

export interface PrepareOptions {
  autoMigrate: boolean
  onApplied: (label: string, migration: Migration) => void
  /** Its schema is as it must be: what has to be told to every database. */
  onReady: (database: NamedDatabase) => Promise<void>
}

/** A database that could not be asked; it is prepared when it comes back. */
export interface Unprepared {
  database: NamedDatabase
  reason: string
}

/**
 * What `serve` does about the schema: an empty database gets it, an existing one is only changed when
 * the operator allowed it. A dead shard is not a reason not to serve the others; without the cluster
 * database there is nothing to serve.
 */
export async function prepareSchema(databases: Databases, options: PrepareOptions): Promise<Unprepared[]> {
  const asked = await Promise.allSettled(databases.all.map(({ settings }) => migrationState(settings)))
  const unprepared: Unprepared[] = []
  const states: (MigrationState & { named: NamedDatabase })[] = []
  for (const [index, outcome] of asked.entries()) {
    const named = databases.all[index]!
    if (outcome.status === 'fulfilled') states.push({ ...outcome.value, named })
    else if (named === databases.cluster || !isTransient(outcome.reason))
      throw withLabel(named, databases, outcome.reason)
    else unprepared.push({ database: named, reason: toCpError(outcome.reason).message })
  }
  const waiting = states.filter((state) => state.schemaExists && state.pending.length > 0)
  if (waiting.length > 0 && !options.autoMigrate) {
    throw pendingError(waiting.map((state) => ({ label: state.named.label, pending: state.pending })))
  }
  for (const { named, pending } of states) {
    if (pending.length > 0) await migrateOne(named, options)
    await options.onReady(named)
  }
  return unprepared
}

/** The same for one database that was away; throws while it cannot be used. */
export async function prepareDatabase(database: NamedDatabase, options: PrepareOptions): Promise<void> {
  const { schemaExists, pending } = await migrationState(database.settings)
  if (pending.length > 0) {
    if (schemaExists && !options.autoMigrate) throw pendingError([{ label: database.label, pending }])
    await migrateOne(database, options)
  }
  await options.onReady(database)
}

async function migrateOne({ label, settings }: NamedDatabase, { onApplied }: PrepareOptions): Promise<void> {
  await applyMigrations(settings, { onApplied: (migration) => onApplied(label, migration) })
}

function pendingError(waiting: readonly { label: string; pending: readonly Migration[] }[]): CpError {
  const names = waiting.map(
    ({ label, pending }) => `${label}: ${pending.map(({ version, name }) => `${version} ${name}`).join(', ')}`,
  )
  return new CpError(
    'schema_mismatch',
    `pending migrations (${names.join('; ')}); run "noetl-cp migrate", or set NOETL_AUTO_MIGRATE=true`,
  )
}

/** "cannot reach the database host:port" alone would not say what it is needed for. */
function withLabel(named: NamedDatabase, { cluster, all }: Databases, reason: unknown): CpError {
  const error = toCpError(reason)
  if (named !== cluster || all.length === 1) return error
  return new CpError(error.code, `the cluster database is needed to start: ${error.message}`, { cause: error })
}
