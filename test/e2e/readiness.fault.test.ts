// Promise: when Postgres or NATS stops, dies or vanishes behind a black hole, /readyz is red within 5 seconds,
// /livez stays green, the process lives, and everything is green again by itself once the server is back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../support/adminSql.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { type OwnNats, startNats } from '../support/natsServer.js'
import { signalTree } from '../support/processes.js'
import { startServers, type TestServers } from '../support/servers.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const RED_WITHIN_MS = 5_000
/** By itself, in its own time: a deadline, not a promise. */
const GREEN_WITHIN_MS = 90_000
/** A busy machine only adds to what is measured: one of these in time is enough. */
const TRIES = 3

let servers: TestServers
let stopServers: () => Promise<void>
let nats: OwnNats
let postgresProxy: TcpProxy
let natsProxy: TcpProxy
let direct: Daemon
let proxied: Daemon

beforeAll(async () => {
  const started = await startServers()
  servers = started.servers
  stopServers = started.stop
  nats = await startNats()
  const database = new URL(servers.databaseUrl)
  postgresProxy = await startTcpProxy(database.hostname, Number(database.port))
  natsProxy = await startTcpProxy('127.0.0.1', nats.port)
  direct = await startDaemon([], {
    env: { NOETL_DATABASE_URL: servers.databaseUrl, NOETL_NATS_URL: `nats://127.0.0.1:${nats.port}` },
  })
  database.port = String(postgresProxy.port)
  proxied = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.href, NOETL_NATS_URL: `nats://127.0.0.1:${natsProxy.port}` },
  })
})
afterAll(async () => {
  for (const daemon of [direct, proxied]) expect((await daemon.stop('SIGTERM')).code).toBe(0)
  await postgresProxy.close()
  await natsProxy.close()
  await nats.stop()
  await stopServers()
})

interface Fault {
  what: string
  check: 'postgres' | 'nats'
  daemon: () => Daemon
  begin: () => void | Promise<void>
  end: () => void | Promise<void>
}

async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  await sql(servers, `alter system set default_transaction_read_only = ${value}`)
  await sql(servers, 'select pg_reload_conf()')
}

const faults: Fault[] = [
  {
    what: 'Postgres is stopped (SIGSTOP)',
    check: 'postgres',
    daemon: () => direct,
    begin: () => signalTree(servers.postgresPid, 'SIGSTOP'),
    end: () => signalTree(servers.postgresPid, 'SIGCONT'),
  },
  {
    what: 'Postgres is behind a black hole',
    check: 'postgres',
    daemon: () => proxied,
    begin: () => postgresProxy.setMode('blackhole'),
    end: () => postgresProxy.setMode('pass'),
  },
  {
    what: 'Postgres refuses',
    check: 'postgres',
    daemon: () => proxied,
    begin: () => postgresProxy.setMode('refuse'),
    end: () => postgresProxy.setMode('pass'),
  },
  {
    what: 'a proxy accepts for Postgres and closes',
    check: 'postgres',
    daemon: () => proxied,
    begin: () => {
      postgresProxy.setMode('acceptThenClose')
      postgresProxy.reset()
    },
    end: () => postgresProxy.setMode('pass'),
  },
  {
    what: 'Postgres answers and refuses to write',
    check: 'postgres',
    daemon: () => direct,
    begin: () => setReadOnly('on'),
    end: () => setReadOnly('off'),
  },
  {
    what: 'NATS is stopped (SIGSTOP)',
    check: 'nats',
    daemon: () => direct,
    begin: () => void process.kill(nats.pid(), 'SIGSTOP'),
    end: () => void process.kill(nats.pid(), 'SIGCONT'),
  },
  {
    what: 'NATS is killed and started again',
    check: 'nats',
    daemon: () => direct,
    begin: () => nats.kill(),
    end: () => nats.start(),
  },
  {
    what: 'NATS is behind a black hole',
    check: 'nats',
    daemon: () => proxied,
    begin: () => natsProxy.setMode('blackhole'),
    end: () => natsProxy.setMode('pass'),
  },
]

describe('readiness', () => {
  it.each(faults)('$what: red in time, alive, green again', async (fault) => {
    let leastMs = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < TRIES && leastMs >= RED_WITHIN_MS; tries++) {
      leastMs = Math.min(leastMs, await msToRed(fault))
    }
    expect(leastMs).toBeLessThan(RED_WITHIN_MS)
  })
})

const untilGreen = ({ get }: Daemon) =>
  until('everything is green', async () => (await get('/readyz')).status === 200, { timeoutMs: GREEN_WITHIN_MS })

async function msToRed({ check, daemon, begin, end }: Fault): Promise<number> {
  const { get } = daemon()
  await untilGreen(daemon())
  await begin()
  let ms: number
  try {
    const started = performance.now()
    const red = await until('/readyz is red', async () => {
      expect((await get('/livez')).status).toBe(200)
      const reply = await get('/readyz')
      return reply.status === 503 && reply
    })
    ms = performance.now() - started
    expect(red.body.checks[check]).toMatchObject({ ok: false, required: true })
    const other = check === 'postgres' ? 'nats' : 'postgres'
    expect(red.body.checks[other].ok).toBe(true)
    expect((await get('/metrics')).text).toContain(`noetl_cp_dependency_up{dependency="${check}"} 0`)
    expect((await get('/api/health')).status).toBe(check === 'postgres' ? 503 : 200)
  } finally {
    await end()
  }
  await untilGreen(daemon())
  return ms
}
