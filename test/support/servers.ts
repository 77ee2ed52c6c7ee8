// Real servers for tests: one Postgres and one nats-server, started by the project's own embedded code in a
// temporary folder. Fault tests that stop or cut servers start a pair of their own with the same function.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyMigrations } from '../../src/db/migrations.js'
import { startEmbedded } from '../../src/embedded/startEmbedded.js'
import { adminSettings, sql } from './adminSql.js'

export interface TestServers {
  /** Superuser URL of the database `noetl`; test databases are cloned beside it. */
  databaseUrl: string
  natsUrl: string
  natsToken: string
  postgresPid: number
  natsPid: number
}

/** What the doctor says of these servers, and nothing else. */
export const DOCTOR_PROBLEMS = ['fsync is off: a power cut loses committed events']

export const TEMPLATE_DATABASE = 'template_noetl'

export interface StartedServers {
  servers: TestServers
  /** Of the present children: they change when one was killed and started again. */
  pids(): { postgres: number; nats: number }
  stop(): Promise<void>
}

export async function startServers(): Promise<StartedServers> {
  const folder = await mkdtemp(join(tmpdir(), 'noetl-cp-test-'))
  await chmod(folder, 0o755)
  const embedded = await startEmbedded({
    dataDir: folder,
    postgresPort: undefined,
    natsPort: undefined,
    natsServerPath: process.env['NOETL_CP_NATS_SERVER'],
    pathEnv: process.env['PATH'],
    version: 'test',
    log: (level, message, fields) => {
      if (level === 'error' || level === 'warn') console.error(`[embedded] ${message}`, fields ?? '')
    },
  })
  const servers: TestServers = {
    databaseUrl: embedded.databaseUrl,
    natsUrl: embedded.natsUrl,
    natsToken: embedded.natsToken,
    postgresPid: embedded.pids.postgres,
    natsPid: embedded.pids.nats,
  }
  // No test cuts the power. A killed process loses nothing by this, and a database is made and dropped 15 times as fast.
  await sql(servers, 'alter system set fsync = off')
  await sql(servers, 'select pg_reload_conf()')
  // Thousands of connections log in, and nobody guesses: 4096 rounds of hashing would be some milliseconds for each.
  const { username, password } = new URL(servers.databaseUrl)
  await sql(servers, `alter role ${username} set scram_iterations = 1`)
  await sql(servers, `alter role ${username} password '${decodeURIComponent(password)}'`)
  await sql(servers, `create database ${TEMPLATE_DATABASE}`)
  await applyMigrations(adminSettings(servers, TEMPLATE_DATABASE))
  return {
    servers,
    pids: () => embedded.pids,
    stop: async () => {
      await embedded.stop(15_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
