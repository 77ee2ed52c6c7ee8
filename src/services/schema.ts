// What commands and the daemon may ask about the schema: its state, and to bring it up to date,
// on every database of the installation.
import type { Databases } from '../db/databases.js'
import { applyMigrations, type Migration, type MigrationState, migrationState } from '../db/migrations.js'
import { CpError } from '../errors.js'

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

/**
 * What `serve` does about the schema: an empty database gets it, an existing one is only changed when
 * the operator allowed it.
 */
export async function prepareSchema(
  databases: Databases,
  options: { autoMigrate: boolean; onApplied: (label: string, migration: Migration) => void },
): Promise<void> {
  const states = await schemaStates(databases)
  const waiting = states.filter((state) => state.schemaExists && state.pending.length > 0)
  if (waiting.length > 0 && !options.autoMigrate) {
    const names = waiting.map(
      (state) =>
        `${state.label}: ${state.pending.map((migration) => `${migration.version} ${migration.name}`).join(', ')}`,
    )
    throw new CpError(
      'schema_mismatch',
      `pending migrations (${names.join('; ')}); run "noetl-cp migrate", or set NOETL_AUTO_MIGRATE=true`,
    )
  }
  if (states.some((state) => state.pending.length > 0)) await migrateAll(databases, options.onApplied)
}
