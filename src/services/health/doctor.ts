// Looks for what an on-call engineer would want to know before it hurts. Every finding says where, what,
// and the command or SQL that mends it. A `problem` fails the check, an `advice` does not.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bus } from '../../bus/connect.js'
import type { Databases, NamedDatabase } from '../../db/databases.js'
import { migrationState } from '../../db/migrations.js'
import { SQL_FOLDER } from '../../db/queries.js'
import { isLoopbackName } from '../../domain/access/loopback.js'
import type { Keyring } from '../../domain/secrets/keyring.js'
import { describeTarget } from '../../domain/shards/databaseTarget.js'
import { toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import {
  describeSchema,
  listDeadTuples,
  listOldTransactions,
  readServerSettings,
  type SchemaDescription,
} from '../../stores/health/doctorStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import { poolFindings } from '../commands/poolDoctor.js'
import { publisherFindings } from '../outbox/publisherDoctor.js'
import { partitionFindings } from '../retention/partitionDoctor.js'
import { sealFindings } from '../secrets/sealedValues.js'
import { subscriptionFindings } from '../subscriptions/doctor.js'
import type { Finding } from './finding.js'
import { inspectNats, type NatsInspection } from './natsDoctor.js'

export interface DoctorDeps {
  databases: Databases
  documents: CatalogDocuments
  bus: Bus | undefined
  nats: NatsInspection
  clock: Clock
  keyring: Keyring
}

const DEAD_TUPLES_MIN = 10_000
const DEAD_PERCENT_MIN = 20
const TRANSACTION_SECONDS_MAX = 60

export async function examine(deps: DoctorDeps): Promise<Finding[]> {
  const perDatabase = await Promise.all(
    deps.databases.all.map((database) => examineDatabase(database, deps.databases.shards.includes(database))),
  )
  const nats = await inspectNats(deps.bus, deps.nats)
  const pools = await poolFindings(deps.databases)
  return [
    ...perDatabase.flat(),
    ...nats,
    ...(await publisherFindings(deps)),
    ...pools,
    ...(await subscriptionFindings(deps)),
    ...(await sealFindings(deps)),
  ]
}

async function examineDatabase(database: NamedDatabase, isShard: boolean): Promise<Finding[]> {
  const where = database.label
  const open = encryptionFindings(database)
  try {
    const parts = await Promise.all([
      open,
      schemaFindings(database),
      isShard ? partitionFindings(database) : [],
      activityFindings(database),
      settingFindings(database),
    ])
    return parts.flat()
  } catch (error) {
    return [
      ...open,
      {
        level: 'problem',
        where,
        finding: toCpError(error).message,
        fix: 'start the server, or check its address and credentials',
      },
    ]
  }
}

/** Also without an answer: what was sent so far could be read on the way. */
export function encryptionFindings({ label, settings }: Pick<NamedDatabase, 'label' | 'settings'>): Finding[] {
  const { host } = settings.target
  // A socket in the file system, and this machine itself, have no way in between.
  if (settings.tls !== false || host.startsWith('/') || isLoopbackName(host)) return []
  return [
    {
      level: 'advice',
      where: label,
      finding: `events travel to ${describeTarget(settings.target)} unencrypted`,
      fix: 'set POSTGRES_SSLMODE=verify-full (and NOETL_CP_PG_TLS_CA), or sslmode in the address of this database',
    },
  ]
}

async function schemaFindings({ label, db, settings }: NamedDatabase): Promise<Finding[]> {
  const state = await migrationState(settings)
  if (state.pending.length > 0) {
    const names = state.pending.map((migration) => `${migration.version} ${migration.name}`).join(', ')
    return [{ level: 'problem', where: label, finding: `pending migrations: ${names}`, fix: 'noetl-cp migrate' }]
  }
  const expected = JSON.parse(readFileSync(join(SQL_FOLDER, 'schema.json'), 'utf8')) as SchemaDescription
  const found = await describeSchema(db)
  const findings: Finding[] = []
  const problem = (finding: string, fix: string) => findings.push({ level: 'problem', where: label, finding, fix })
  for (const [table, columns] of Object.entries(expected.tables)) {
    const actual = found.tables[table]
    if (actual === undefined) {
      problem(`table noetl.${table} is missing`, 'restore it from a backup, or create it as in sql/migrations')
      continue
    }
    for (const [column, type] of Object.entries(columns)) {
      if (actual[column] === undefined) {
        problem(
          `column noetl.${table}.${column} is missing`,
          `alter table noetl.${table} add column ${column} ${type};`,
        )
      }
    }
  }
  for (const [index, definition] of Object.entries(expected.indexes)) {
    // An adopted database names some of its own keys differently; what counts is what is indexed.
    const shape = indexShape(definition)
    const present =
      found.indexes[index] !== undefined || Object.values(found.indexes).some((other) => indexShape(other) === shape)
    if (!present) problem(`index ${index} is missing`, `${definition};`)
  }
  for (const index of found.invalidIndexes)
    problem(`index ${index} is invalid`, `reindex index concurrently noetl.${index};`)
  return findings
}

function indexShape(definition: string): string {
  return definition.replace(/INDEX \S+ ON/, 'INDEX ON')
}

async function activityFindings({ label, db }: NamedDatabase): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const table of await listDeadTuples(db, { deadMin: DEAD_TUPLES_MIN, percentMin: DEAD_PERCENT_MIN })) {
    findings.push({
      level: 'advice',
      where: label,
      finding: `noetl.${table.table_name} has ${table.dead} dead rows beside ${table.live} live ones`,
      fix: `vacuum (analyze) noetl.${table.table_name};`,
    })
  }
  for (const transaction of await listOldTransactions(db, TRANSACTION_SECONDS_MAX)) {
    const who = [transaction.usename, transaction.application_name].filter(Boolean).join('/')
    findings.push({
      level: 'problem',
      where: label,
      finding: `transaction of ${who} open for ${transaction.seconds} s (${transaction.state}): ${transaction.query}`,
      fix: `select pg_terminate_backend(${transaction.pid});`,
    })
  }
  return findings
}

async function settingFindings({ label, db }: NamedDatabase): Promise<Finding[]> {
  const settings = await readServerSettings(db)
  const findings: Finding[] = []
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum']) {
    if (settings[name] !== 'off') continue
    const level = name === 'autovacuum' ? 'advice' : 'problem'
    const finding =
      name === 'autovacuum'
        ? 'autovacuum is off; the outbox will bloat'
        : `${name} is off: a power cut loses committed events`
    findings.push({ level, where: label, finding, fix: `alter system set ${name} = on; select pg_reload_conf();` })
  }
  return findings
}
