// A Postgres server of the lab's own, supervised by the product's embedded code: whatever kills it, it is started
// again on the same port and the same files.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Param } from '../src/db/params.js'
import { createPool } from '../src/db/pool.js'
import { bringUpPostgres, type Cleanup } from '../src/embedded/bringUp.js'
import { openDataFolder } from '../src/embedded/dataFolder.js'
import { openLogFile } from '../src/embedded/logFile.js'
import { placeServers, SHARED_ROOT } from '../src/embedded/placement.js'
import { findPackageTree, preparePostgresBinaries } from '../src/embedded/postgresBinaries.js'
import { DATABASE, SUPERUSER } from '../src/embedded/postgresCluster.js'
import { loadSecrets } from '../src/embedded/secrets.js'
import { adminSettings } from '../test/support/adminSql.js'
import { signalTree } from '../test/support/processes.js'
import { until } from '../test/support/until.js'
import { mountSmallDisk, type SmallDisk } from './tmpfs.js'

export interface LabPostgres {
  readonly port: number
  readonly url: string
  /** Straight to the server, past every proxy of the daemons. */
  readonly db: ReturnType<typeof createPool>
  sql<R = Record<string, unknown>>(text: string, values?: readonly Param[]): Promise<R[]>
  /** Immediate mode: no checkpoint, no goodbye. */
  crash(): void
  freeze(): void
  thaw(): void
  /** As a server is that ran out of disk, or a standby that everybody takes for the primary. */
  setReadOnly(isReadOnly: boolean): Promise<void>
  answers(): Promise<void>
  /** An empty database beside the first. */
  extraDatabase(name: string): Promise<{ url: string; sql: LabPostgres['sql']; close(): Promise<void> }>
  /** Why there is none, if it is a text. */
  readonly disk: SmallDisk | string
  stop(): Promise<void>
}

const DISK_MB = 1_024

export async function startPostgres(options: { smallDisk: boolean }): Promise<LabPostgres> {
  const root = await mkdtemp(join(tmpdir(), 'noetl-chaos-pg-'))
  await chmod(root, 0o755)
  const disk = options.smallDisk ? await mountSmallDisk(root, DISK_MB) : 'it was not asked for'
  const asRoot = process.getuid?.() === 0
  const folder = await openDataFolder(root, asRoot)
  const { secrets, created } = await loadSecrets(folder.secretsFile)
  const place = await placeServers(folder, asRoot, SHARED_ROOT)
  const binaries = await preparePostgresBinaries(
    await findPackageTree(),
    place.user,
    asRoot ? SHARED_ROOT : folder.postgres,
  )
  const cleanup: Cleanup = []
  const { port, child } = await bringUpPostgres({
    folder,
    secrets,
    configuredPort: undefined,
    remembered: {},
    signal: new AbortController().signal,
    cleanup,
    log: () => undefined,
    logFile: await openLogFile(join(folder.logs, 'postgres.log'), 16_000_000),
    place,
    binaries,
    newSecrets: created,
  })
  const url = `postgres://${SUPERUSER}:${secrets.postgresPassword}@127.0.0.1:${port}/${DATABASE}`
  const { db, sql } = openPool(url)
  // Its own log of changes must fit on the small disk.
  await sql(`alter system set max_wal_size = '192MB'`)
  await sql('select pg_reload_conf()')
  return {
    port,
    url,
    db,
    sql,
    disk,
    crash: () => process.kill(child.pid, 'SIGQUIT'),
    freeze: () => signalTree(child.pid, 'SIGSTOP'),
    thaw: () => signalTree(child.pid, 'SIGCONT'),
    setReadOnly: async (isReadOnly) => {
      await sql(`alter system set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
      await sql('select pg_reload_conf()')
    },
    answers: async () => {
      await until('Postgres answers', async () => (await sql('select 1')).length === 1, {
        timeoutMs: 120_000,
        everyMs: 100,
      })
    },
    extraDatabase: async (name) => {
      await sql(`create database ${name}`)
      const place = new URL(url)
      place.pathname = `/${name}`
      const opened = openPool(place.toString())
      return { url: place.toString(), sql: opened.sql, close: () => opened.db.close(2_000) }
    },
    stop: async () => {
      await db.close(2_000)
      for (const release of cleanup.reverse()) await release()
      if (typeof disk !== 'string') await disk.unmount()
      await rm(root, { recursive: true, force: true })
    },
  }
}

function openPool(url: string): Pick<LabPostgres, 'db' | 'sql'> {
  const db = createPool({
    ...adminSettings({ databaseUrl: url }),
    applicationName: 'chaos lab',
    max: 6,
    acquireTimeoutMs: 30_000,
    queryTimeoutMs: 60_000,
  })
  return { db, sql: (text, values = []) => db.run({ name: 'chaos', text }, values) as Promise<never> }
}
