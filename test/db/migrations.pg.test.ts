// Promise: any number of starters bring a database to the same schema once; an edited or newer history is refused,
// and so is the database of an earlier build; an existing NoETL database is adopted with all its rows, and doctor
// finds nothing wrong with it.
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { openDatabases } from '../../src/db/databases.js'
import { applyMigrations, loadMigrations, type Migration, migrationState } from '../../src/db/migrations.js'
import { createKeyring } from '../../src/domain/secrets/keyring.js'
import { systemClock } from '../../src/runtime/clock.js'
import { createCatalogDocuments } from '../../src/services/catalog/catalogDocuments.js'
import { catalogDocument } from '../../src/services/catalog/inThread/catalogDocument.js'
import { examine } from '../../src/services/health/doctor.js'
import { prepareSchema } from '../../src/services/schema/schema.js'
import { describeSchema } from '../../src/stores/health/doctorStore.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { DOCTOR_PROBLEMS } from '../support/servers.js'

const databases: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(databases.splice(0).map((database) => database.drop()))
})

async function empty(): Promise<TestDatabase> {
  const database = await cloneDatabase(inject('servers'), { empty: true })
  databases.push(database)
  return database
}

async function migrated(): Promise<TestDatabase> {
  const database = await cloneDatabase(inject('servers'))
  databases.push(database)
  return database
}

const FIXTURE = readFileSync(new URL('../fixtures/noetl-existing.sql', import.meta.url), 'utf8')

async function existing(): Promise<TestDatabase> {
  const database = await empty()
  const { createConnection } = await import('../../src/db/connection.js')
  const connection = createConnection(database.settings)
  await connection.script(FIXTURE, 30_000)
  await connection.close(1_000)
  return database
}

function installation(database: TestDatabase) {
  const { target, ...rest } = database.settings
  return openDatabases(
    { databases: [target], cluster: target, singleDatabase: true, ownIndex: 0, ownCount: 1 } as never,
    { ...rest, tls: () => false, max: 3, acquireTimeoutMs: 5_000, queryTimeoutMs: 10_000 },
  )
}

const all = loadMigrations()
const step = (version: number, sql: string): Migration => ({
  version,
  name: `step${version}`,
  sql,
  checksum: `sum ${version} ${sql}`,
})

describe('from an empty database', () => {
  it('everything is applied once and recorded, and a second run does nothing', async () => {
    const database = await empty()
    expect((await migrationState(database.settings)).schemaExists).toBe(false)
    expect((await applyMigrations(database.settings)).map(({ version }) => version)).toEqual(
      all.map(({ version }) => version),
    )
    expect(await applyMigrations(database.settings)).toEqual([])
    const state = await migrationState(database.settings)
    expect(state.pending).toEqual([])
    expect(state.applied.map(({ name }) => name)).toEqual(all.map(({ name }) => name))
  })
  it('five starters at once: each step is applied by exactly one', async () => {
    const database = await empty()
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => applyMigrations(database.settings)))
    expect(
      results
        .flat()
        .map(({ version }) => version)
        .sort(),
    ).toEqual(all.map(({ version }) => version).sort())
  })
  it('five daemons at once without leave to migrate: each comes up, none sees half a schema', async () => {
    const database = await empty()
    const opened = [1, 2, 3, 4, 5].map(() => installation(database))
    try {
      await Promise.all(
        opened.map((one) =>
          prepareSchema(one, { autoMigrate: false, onApplied: () => undefined, onReady: async () => undefined }),
        ),
      )
    } finally {
      await Promise.all(opened.map((one) => one.close(1_000)))
    }
  })
  it('an empty schema made by an administrator still counts as empty', async () => {
    const database = await empty()
    await database.sql('create schema noetl')
    const opened = installation(database)
    await prepareSchema(opened, { autoMigrate: false, onApplied: () => undefined, onReady: async () => undefined })
    await opened.close(1_000)
  })
  it('a role that may only connect and create in this database is enough', async () => {
    const database = await empty()
    const name = database.settings.target.database
    const role = `role_${name}`
    await database.sql(`create role ${role} login password 'x'`)
    await database.sql(`grant create on database ${name} to ${role}`)
    try {
      const settings = { ...database.settings, target: { ...database.settings.target, user: role, password: 'x' } }
      expect((await applyMigrations(settings)).length).toBe(all.length)
    } finally {
      await database.sql(`drop owned by ${role} cascade`)
      await database.sql(`drop role ${role}`)
    }
  })
})

describe('a failing step', () => {
  it('leaves no trace of itself and keeps what came before', async () => {
    const database = await migrated()
    const good = step(all.length + 1, 'create table noetl.good (a int)')
    const bad = step(all.length + 2, 'create table noetl.bad (a int); select 1/0')
    await expect(applyMigrations(database.settings, { migrations: [...all, good, bad] })).rejects.toThrow(
      /division by zero/,
    )
    const { tables } = await describeSchema(database.db)
    expect(tables['good']).toBeDefined()
    expect(tables['bad']).toBeUndefined()
    expect((await migrationState(database.settings, [...all, good, bad])).pending).toEqual([bad])
  })
  it('from an empty database leaves it empty', async () => {
    const database = await empty()
    const bad = step(all.length + 1, 'select 1/0')
    await expect(applyMigrations(database.settings, { migrations: [...all, bad] })).rejects.toThrow()
    expect((await migrationState(database.settings)).schemaExists).toBe(false)
  })
  it('a step longer than the ordinary statement limit is not cut', async () => {
    const database = await migrated()
    const slow = step(all.length + 1, 'select pg_sleep(0.8)')
    await applyMigrations({ ...database.settings, statementTimeoutMs: 300 }, { migrations: [...all, slow] })
  })
})

describe('a history that does not fit', () => {
  it('edited after release: refused by name', async () => {
    const database = await migrated()
    const edited = [{ ...all[0]!, checksum: 'other' }, ...all.slice(1)]
    await expect(migrationState(database.settings, edited)).rejects.toMatchObject({
      code: 'schema_mismatch',
      message: expect.stringMatching(/migration 1 \(base\) .* differs from the file/),
    })
  })
  it('newer than this binary: refused, and nothing is changed', async () => {
    const database = await migrated()
    await database.sql("insert into noetl.cp_migration (version, name, checksum) values (9999, 'future', 'x')")
    for (const attempt of [migrationState, applyMigrations]) {
      await expect(attempt(database.settings)).rejects.toMatchObject({
        code: 'schema_mismatch',
        message: expect.stringContaining('install a newer noetl-cp'),
      })
    }
  })
  it('pending steps on an existing schema wait for leave', async () => {
    const database = await existing()
    const opened = installation(database)
    await expect(
      prepareSchema(opened, { autoMigrate: false, onApplied: () => undefined, onReady: async () => undefined }),
    ).rejects.toMatchObject({
      code: 'schema_mismatch',
      message: expect.stringContaining('run "noetl-cp migrate"'),
    })
    await opened.close(1_000)
    expect((await migrationState(database.settings)).applied).toEqual([])
  })
})

describe('an existing NoETL database', () => {
  it('is adopted: rows stay, columns are added, keys to the catalog go, doctor is content', async () => {
    const database = await existing()
    const rows = () =>
      database.sql(`select execution_id, event_id, catalog_id, created_at, event_type, node_name, context::text as context, result::text as result
        from noetl.event order by execution_id, event_id`)
    const before = await rows()
    await applyMigrations(database.settings)
    expect(await rows()).toEqual(before)
    expect(
      await database.sql(
        'select event_time, ingest_time, tenant_id, schema_version, prev_event_id from noetl.event where event_id = 370000000000000002',
      ),
    ).toEqual([
      {
        event_time: '2026-10-17 12:00:00.000001+00',
        // When it came in is not known; when it happened is the best guess.
        ingest_time: '2026-10-17 12:00:00.000001+00',
        tenant_id: 'default',
        schema_version: 1,
        prev_event_id: null,
      },
    ])
    expect(
      await database.sql('select outbox_id, status, payload::text as payload from noetl.outbox order by 1'),
    ).toEqual([
      { outbox_id: '1', status: 'PENDING', payload: '{"event_id": 370000000000000002}' },
      // Its publisher had died; nothing in the NoETL server would ever have taken it back.
      { outbox_id: '2', status: 'PENDING', payload: '{"event_id": 370000000000000003}' },
      { outbox_id: '3', status: 'PENDING', payload: '{}' },
    ])
    expect(
      await database.sql(
        'select execution_id, status, path, start_event_type, event_count from noetl.execution order by 1',
      ),
    ).toEqual([
      {
        execution_id: '7',
        status: 'RUNNING',
        path: 'tests/hello',
        start_event_type: 'playbook_started',
        event_count: '1',
      },
      {
        execution_id: '370000000000000001',
        status: 'COMPLETED',
        path: 'tests/hello',
        start_event_type: 'playbook_started',
        event_count: '3',
      },
    ])
    expect(await database.sql('select step_name from noetl.command')).toEqual([{ step_name: 'start' }])
    expect(await database.sql("select name from noetl.resource where name = 'subscription'")).toHaveLength(1)

    // No key holds an event back any more, and the 16-bit version has room.
    await database.sql(
      "insert into noetl.event (execution_id, event_id, catalog_id, event_type) values (9, 9, 999, 'x')",
    )
    await database.sql(
      "insert into noetl.catalog (catalog_id, path, version, kind) values (13, 'tests/hello', 40000, 'playbook')",
    )
    // The check on results stays.
    await expect(
      database.sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, result) values (9, 10, 999, '{"x":1}')`,
      ),
    ).rejects.toMatchObject({ code: 'refused' })
    // Tables that are not ours are left alone.
    expect(await database.sql('select stage_id from noetl.stage')).toEqual([{ stage_id: '21' }])

    const opened = installation(database)
    try {
      const findings = await examine({
        databases: opened,
        documents: createCatalogDocuments({
          databases: opened,
          clock: systemClock,
          parse: async (input) => catalogDocument(input),
          locate: () => Promise.reject(new Error('not asked')),
        }),
        bus: undefined,
        nats: {} as never,
        clock: systemClock,
        keyring: createKeyring([]),
      })
      expect(findings.filter(({ level }) => level === 'problem').map(({ finding }) => finding)).toEqual(DOCTOR_PROBLEMS)
    } finally {
      await opened.close(1_000)
    }
  })
  it('has its column names untouched', async () => {
    const database = await existing()
    const before = (await describeSchema(database.db)).tables
    await applyMigrations(database.settings)
    const after = (await describeSchema(database.db)).tables
    for (const [table, columns] of Object.entries(before)) {
      expect(Object.keys(after[table] ?? {}), table).toEqual(expect.arrayContaining(Object.keys(columns)))
    }
  })
})

describe('a database of an earlier build', () => {
  /** As it was left: the same tables, another history. */
  async function earlier(): Promise<TestDatabase> {
    const database = await migrated()
    await database.sql('delete from noetl.cp_migration where version > 1')
    await database.sql(
      `insert into noetl.cp_migration (version, name, checksum)
       select n, 'step_' || n, md5(n::text) from generate_series(2, 23) as n`,
    )
    await database.sql("insert into noetl.event (execution_id, event_id, catalog_id, event_type) values (1, 2, 0, 'x')")
    return database
  }
  const content = async (database: TestDatabase) => ({
    schema: await describeSchema(database.db),
    rows: await database.sql(
      'select (select jsonb_agg(m) from noetl.cp_migration m)::text as history, (select jsonb_agg(e) from noetl.event e)::text as events',
    ),
  })
  const SENTENCE =
    /was made by an earlier build of noetl-cp \(its migration 2 is step_2, here it is .*nothing was changed/

  it('is refused with a sentence by everything that would write to it, and left as it was', async () => {
    const database = await earlier()
    const before = await content(database)
    const refusal = { code: 'schema_mismatch', message: expect.stringMatching(SENTENCE) }
    for (const attempt of [migrationState, applyMigrations]) {
      await expect(attempt(database.settings)).rejects.toMatchObject(refusal)
    }
    const opened = installation(database)
    await expect(
      prepareSchema(opened, { autoMigrate: true, onApplied: () => undefined, onReady: async () => undefined }).finally(
        () => opened.close(1_000),
      ),
    ).rejects.toMatchObject(refusal)
    const env = { NOETL_DATABASE_URL: database.url, NOETL_AUTO_MIGRATE: 'true' }
    const ended = await builtCli(['migrate'], { env })
    expect(ended).toMatchObject({ code: 78, stderr: expect.stringMatching(SENTENCE) })
    expect(await content(database)).toEqual(before)
  })
  it('even one that is behind us in number', async () => {
    const database = await earlier()
    await database.sql('delete from noetl.cp_migration where version > 2')
    await expect(applyMigrations(database.settings)).rejects.toMatchObject({ message: expect.stringMatching(SENTENCE) })
  })
})

describe('noetl-cp migrate', () => {
  it('shows, prints and applies; refuses with the code of a bad configuration', async () => {
    const database = await existing()
    const env = { NOETL_DATABASE_URL: database.url }
    const shown = await builtCli(['migrate', '--dry-run'], { env })
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.stdout).toMatch(/0001 base +│ pending/)
    const printed = await builtCli(['migrate', '--show-sql'], { env })
    expect(printed.stdout).toContain('-- 0001 base')
    expect(printed.stdout).toContain(all[0]!.sql.trim())
    expect((await migrationState(database.settings)).applied).toEqual([])

    const applied = await builtCli(['migrate', '--json'], { env })
    expect(JSON.parse(applied.stdout).applied).toHaveLength(all.length)
    expect((await builtCli(['migrate'], { env })).stdout).toContain('everything was up to date')
    expect((await builtCli(['migrate', '--show-sql'], { env })).stdout).toContain('-- nothing is pending')

    await database.sql("update noetl.cp_migration set checksum = 'edited' where version = 1")
    const refused = await builtCli(['migrate'], { env })
    expect(refused.code).toBe(78)
    expect(refused.stderr).toContain('was it edited after release?')
  })
})
