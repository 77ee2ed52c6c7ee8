import { ensurePartitions } from '../../../services/retention/partitions.js'
import { migrateAll, type SchemaState, schemaStates } from '../../../services/schema/schema.js'
import type { CommandSpec } from '../../command.js'
import { type Block, toned } from '../../output.js'

type Migration = SchemaState['pending'][number]

export const migrate: CommandSpec = {
  path: ['migrate'],
  doing: 'bringing the schema up to date',
  localBecause: 'it changes the schema, with the rights of its owner',
  summary: 'Bring the schema of every database up to date',
  description:
    'Applies pending migrations to every database of the installation, one transaction each. Safe to run by several at once. An existing NoETL schema is adopted: columns are added, nothing is renamed.',
  options: [
    { flags: '--dry-run', help: 'only say what would be applied' },
    { flags: '--show-sql', help: 'print the SQL of the pending migrations; applies nothing' },
  ],
  examples: [
    ['migrate', 'apply what is pending'],
    ['migrate --dry-run', 'say what is pending'],
    ['migrate --show-sql > pending.sql', 'the SQL, for review'],
  ],
  run: async (context, { options }) => {
    const { config, databases } = await context.deps()
    if (options['showSql'] === true || options['dryRun'] === true) {
      const states = await schemaStates(databases)
      const pending = states.flatMap((state) =>
        state.pending.map((migration) => ({ database: state.label, migration })),
      )
      const blocks: Block[] =
        options['showSql'] === true
          ? [
              {
                kind: 'lines',
                lines: sqlLines(distinct(pending.map(({ migration }) => migration))),
              },
            ]
          : [
              {
                kind: 'table',
                columns: ['database', 'migration', 'state'],
                isProse: true,
                rows: states.flatMap((state) => [
                  ...state.applied.map((migration) => [state.label, label(migration), toned('applied', 'dim')]),
                  ...state.pending.map((migration) => [state.label, label(migration), toned('pending', 'warn')]),
                ]),
              },
            ]
      return {
        json: {
          pending: pending.map(({ database, migration }) => ({
            database,
            version: migration.version,
            name: migration.name,
          })),
        },
        blocks,
      }
    }
    const migrated = await migrateAll(databases)
    // The first event may come from a command before any daemon has run.
    const partitions = await ensurePartitions(databases, config.partitionsAhead)
    const rows = migrated.flatMap(({ label: database, applied }) =>
      applied.map((migration) => [database, label(migration)]),
    )
    return {
      json: {
        applied: migrated.flatMap(({ label: database, applied }) =>
          applied.map((migration) => ({ database, version: migration.version, name: migration.name })),
        ),
      },
      blocks: [{ kind: 'table', columns: ['database', 'applied'], rows, empty: 'everything was up to date' }],
      notes: partitions.flatMap(({ shard, created, error }) => [
        ...(created.length > 0 ? [`${shard}: made the partitions ${created.join(', ')}`] : []),
        ...(error === undefined ? [] : [`${shard}: no partitions yet: ${error.message}`]),
      ]),
    }
  },
}

function label(migration: { version: number; name: string }): string {
  return `${String(migration.version).padStart(4, '0')} ${migration.name}`
}

function distinct(migrations: Migration[]): Migration[] {
  return [...new Map(migrations.map((migration) => [migration.version, migration])).values()]
}

function sqlLines(migrations: readonly Migration[]): string[] {
  if (migrations.length === 0) return ['-- nothing is pending']
  return migrations.flatMap((migration) => [`-- ${label(migration)}`, ...migration.sql.split('\n')])
}
