// Relays of the real daemon over a database and a stream that each test has for itself.
import { afterEach, beforeEach } from 'vitest'
import { type Daemon, startDaemon } from '../../support/binary.js'
import { cloneDatabase, type TestDatabase, useDatabase } from '../../support/database.js'
import { committedRows, countBy } from '../../support/outboxRows.js'
import type { TestServers } from '../../support/servers.js'
import { judge, type TestStream, useStream } from '../../support/stream.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { until } from '../../support/until.js'

export interface Relays {
  database: TestDatabase
  stream: TestStream
  daemons: Daemon[]
  servers(): TestServers
  start(env?: Record<string, string>, preload?: string[]): Promise<Daemon>
  natsProxy(): Promise<TcpProxy>
  allPublished(): Promise<unknown>
  /** The lanes that somebody owns. */
  lanesHeld(): Promise<number>
  verdict(): Promise<ReturnType<typeof judge>>
}

/** Call at the top of a test file. */
export function useRelays(): Relays {
  const shared = useDatabase()
  const here: Relays = {
    database: undefined as never,
    stream: undefined as never,
    daemons: [],
    servers: shared.servers,
    start: async (env = {}, preload = []) => {
      const daemon = await startDaemon([], {
        env: {
          ...here.stream.env,
          NOETL_DATABASE_URL: here.database.url,
          NOETL_CP_OUTBOX_LEASE: '3',
          NOETL_CP_OUTBOX_ACK_TIMEOUT: '2',
          NOETL_CP_PROJECTOR: 'false',
          ...env,
        },
        preload,
      })
      here.daemons.push(daemon)
      return daemon
    },
    natsProxy: () => {
      const { hostname, port } = new URL(shared.servers().natsUrl)
      return startTcpProxy(hostname, Number(port))
    },
    allPublished: () =>
      until('everything is published', async () => Object.keys(await countBy(here.database)).join() === 'PUBLISHED', {
        timeoutMs: 120_000,
        everyMs: 200,
      }),
    lanesHeld: async () =>
      (await here.database.sql(`select 1 from noetl.lease where kind = 'outbox' and owner is not null`)).length,
    verdict: async () => judge(await here.stream.messages(), await committedRows(here.database)),
  }
  beforeEach(async () => {
    here.database = await cloneDatabase(shared.servers())
    here.stream = await useStream(shared.servers())
    here.daemons = []
  })
  afterEach(async () => {
    for (const daemon of here.daemons) await daemon.stop('SIGKILL').catch(() => undefined)
    await here.stream.close()
    await here.database.drop()
  })
  return here
}

/** What `verdict` says when nothing is wrong. */
export const clean = (stored: number) => ({ stored, lost: [], duplicates: [], outOfOrder: [], uninvited: [] })

export async function metric(daemon: Daemon, name: string): Promise<number> {
  const { text } = await daemon.get('/metrics')
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([0-9.e+]+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}
