// Promise: the process ends within NOETL_CP_SHUTDOWN_TIMEOUT of SIGTERM, and a command when its time is up, also when
// Postgres or NATS accepts connections and never answers.
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { type Daemon, runBinary, startDaemon } from '../support/binary.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { insertRows } from '../support/outboxRows.js'
import { type TestStream, useStream } from '../support/stream.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const SHUTDOWN_SECONDS = 4
/** For a loaded machine; what was wrong took several times the budget. */
const SLACK_MS = 6_000

let database: TestDatabase
let stream: TestStream
let postgres: TcpProxy
let nats: TcpProxy
let env: Record<string, string>

beforeAll(async () => {
  const servers = inject('servers')
  database = await cloneDatabase(servers)
  stream = await useStream(servers)
  await stream.make()
})
afterAll(async () => {
  await stream.close()
  await database.drop()
})
beforeEach(async () => {
  const at = new URL(database.url)
  const bus = new URL(inject('servers').natsUrl)
  postgres = await startTcpProxy(at.hostname, Number(at.port))
  nats = await startTcpProxy(bus.hostname, Number(bus.port))
  at.port = String(postgres.port)
  env = {
    ...stream.env,
    NOETL_DATABASE_URL: at.href,
    NOETL_NATS_URL: `nats://127.0.0.1:${nats.port}`,
    NOETL_CP_SHUTDOWN_TIMEOUT: String(SHUTDOWN_SECONDS),
  }
  return async () => {
    await postgres.close()
    await nats.close()
  }
})

async function secondsToStop(daemon: Daemon): Promise<{ code: number | null; ms: number }> {
  const began = performance.now()
  const { code } = await daemon.stop('SIGTERM')
  return { code, ms: performance.now() - began }
}

describe('SIGTERM', () => {
  it.each(['postgres', 'nats'] as const)('while %s answers nothing', async (which) => {
    const daemon = await startDaemon([], { env })
    await until('it is ready', async () => (await daemon.get('/readyz')).status === 200)
    const proxy = which === 'nats' ? nats : postgres
    proxy.setMode('blackhole')
    // Until every loop waits for an answer that does not come.
    await until('it notices', async () => (await daemon.get('/readyz')).status === 503)
    const { code, ms } = await secondsToStop(daemon)
    expect(ms).toBeLessThan(SHUTDOWN_SECONDS * 1_000 + SLACK_MS)
    expect(code, daemon.stderr()).toBe(0)
  })
})

describe('outbox drain', () => {
  it('ends when NATS never answers, and after its time when it stops answering', async () => {
    nats.setMode('blackhole')
    const never = await runBinary(['outbox', 'drain', '--max-seconds', '3'], { env, timeoutMs: 60_000 })
    expect(never).toMatchObject({ code: 69, signal: null })
    expect(never.stderr).toContain('NATS is not reachable')

    nats.setMode('pass')
    await insertRows(database, { rows: 1, executions: 1, prefix: stream.prefix })
    await database.sql(`update noetl.outbox set available_at = now() + interval '1 hour'`)
    const run = runBinary(['outbox', 'drain', '--max-seconds', '8'], { env, timeoutMs: 90_000 })
    await until('it holds the lanes', async () => {
      const [held] = await database.sql<{ n: number }>(
        `select count(*)::int as n from noetl.lease where kind = 'outbox' and owner is not null and lease_until > now()`,
      )
      return held!.n === 64
    })
    nats.setMode('blackhole')
    const began = performance.now()
    const ended = await run
    expect(ended, ended.stderr).toMatchObject({ code: 69, signal: null })
    expect(performance.now() - began).toBeLessThan(8_000 + 40_000)
  })
})
