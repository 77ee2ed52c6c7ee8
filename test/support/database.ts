// A database per test file, cloned from the migrated template: dropped on success, kept and named on failure.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject, onTestFailed } from 'vitest'
import type { ConnectionSettings, Rows } from '../../src/db/connection.js'
import type { Db } from '../../src/db/db.js'
import type { Param } from '../../src/db/params.js'
import { createPool } from '../../src/db/pool.js'
import { adminSettings, sql } from './adminSql.js'
import { TEMPLATE_DATABASE, type TestServers } from './servers.js'

export { adminSettings, sql } from './adminSql.js'

export interface TestDatabase {
  url: string
  db: Db
  settings: ConnectionSettings
  /** Plain SQL with parameters. */
  sql<R = Record<string, unknown>>(text: string, values?: readonly Param[]): Promise<Rows<R>>
  drop(): Promise<void>
}

export async function cloneDatabase(servers: TestServers, options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await sql(servers, `create database ${name} template ${options.empty === true ? 'template0' : TEMPLATE_DATABASE}`)
  const settings = adminSettings(servers, name)
  const db = createPool({ ...settings, max: 8, acquireTimeoutMs: 10_000, queryTimeoutMs: 30_000 })
  const url = new URL(servers.databaseUrl)
  url.pathname = `/${name}`
  return {
    url: url.toString(),
    db,
    settings,
    sql: (text, values = []) => db.run({ name: 'test', text }, values),
    drop: async () => {
      await db.close(2_000)
      await sql(servers, `drop database if exists ${name} with (force)`)
    },
  }
}

/** Call at the top of a test file: a database for all its tests, and the shared servers. */
export function useDatabase(options: { empty?: boolean } = {}): { get(): TestDatabase; servers(): TestServers } {
  let database: TestDatabase | undefined
  let failed = false
  beforeAll(async () => {
    database = await cloneDatabase(inject('servers'), options)
  })
  afterAll(async () => {
    if (database === undefined) return
    if (failed) {
      console.error(`kept for inspection: ${database.url}`)
      await database.db.close(2_000)
    } else {
      await database.drop()
    }
  })
  return {
    get: () => {
      // Outside a test (in beforeAll, afterAll) there is nothing to watch.
      try {
        onTestFailed(() => {
          failed = true
        })
      } catch {
        // Vitest says so by throwing.
      }
      if (database === undefined) throw new Error('the test database is not there yet')
      return database
    },
    servers: () => inject('servers'),
  }
}
