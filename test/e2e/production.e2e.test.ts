// Promise: with a database of one's own the daemon runs on it, with or without NATS, and says which; internal
// routes stay closed without a token; a database that is away or not migrated is refused in words.
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Daemon, type EndedEarly, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { freePort } from '../support/freePort.js'
import { startNats } from '../support/natsServer.js'
import { DOCTOR_PROBLEMS } from '../support/servers.js'
import { INTERNAL_TOKEN, INTERNAL_TOKEN_PREVIOUS } from '../support/tokens.js'

let database: TestDatabase
const daemons: Daemon[] = []
beforeEach(async () => {
  database = await cloneDatabase(inject('servers'), { empty: true })
})
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop('SIGKILL')))
  await database.drop()
})

async function serve(env: Record<string, string> = {}, args: string[] = []): Promise<Daemon> {
  const daemon = await startDaemon(args, { env: { NOETL_DATABASE_URL: database.url, ...env } })
  daemons.push(daemon)
  return daemon
}

const ended = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('it should not have started')
    },
    (error: EndedEarly) => error.result,
  )

describe('without NATS', () => {
  it('makes the schema in an empty database, is ready, says that NATS is off, and stops with 0', async () => {
    const daemon = await serve()
    expect(daemon.stdout()).toMatch(/NATS +not configured: outbox rows wait/)
    expect(daemon.stdout()).toContain('answer 503 until NOETL_INTERNAL_API_TOKEN is set')
    const ready = await daemon.get('/readyz')
    expect(ready.status).toBe(200)
    expect(ready.body.checks.nats).toMatchObject({ ok: false, required: false })
    expect((await daemon.get('/api/health')).body).toMatchObject({ status: 'ok', nats: 'disabled' })
    const status = await builtCli(['status'], {
      env: { NOETL_DATABASE_URL: database.url, NOETL_PORT: new URL(daemon.url).port },
    })
    expect(status.code).toBe(0)
    expect(status.stdout).toMatch(/nats +│ off/)
    expect((await daemon.stop('SIGTERM')).code).toBe(0)
    expect(daemon.stderr()).not.toContain(database.settings.target.password)
  })
  it('takes the POSTGRES_* family instead of a URL', async () => {
    const { host, port, user, password, database: name } = database.settings.target
    const daemon = await startDaemon([], {
      env: {
        POSTGRES_HOST: host,
        POSTGRES_PORT: String(port),
        POSTGRES_USER: user,
        POSTGRES_PASSWORD: password,
        POSTGRES_DATABASE: name,
      },
    })
    daemons.push(daemon)
    expect((await daemon.get('/readyz')).status).toBe(200)
    expect(daemon.stdout()).not.toContain(password)
  })
})

describe('with NATS', () => {
  it('is ready, has made the stream, and doctor agrees', async () => {
    const monitorPort = await freePort()
    const natsToken = 'token-of-a-server-of-its-own'
    const nats = await startNats(['--auth', natsToken, '-m', String(monitorPort)])
    onTestFinished(() => nats.stop())
    const env = {
      NOETL_NATS_URL: `nats://127.0.0.1:${nats.port}`,
      NOETL_NATS_TOKEN: natsToken,
      NOETL_NATS_MONITOR_URL: `http://127.0.0.1:${monitorPort}`,
      NOETL_EVENT_NATS_STREAM: `E2E_${database.settings.target.database}`,
      NOETL_EVENT_NATS_SUBJECT_PREFIX: `e2e.${database.settings.target.database}`,
      NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
      NOETL_INTERNAL_API_TOKEN_PREVIOUS: INTERNAL_TOKEN_PREVIOUS,
    }
    const daemon = await serve(env)
    const ready = await daemon.get('/readyz')
    expect([ready.status, ready.body.checks.nats.ok]).toEqual([200, true])
    expect(daemon.stdout() + daemon.stderr()).not.toContain(natsToken)
    const doctor = await builtCli(['doctor', '--json'], { env: { NOETL_DATABASE_URL: database.url, ...env } })
    const findings = JSON.parse(doctor.stdout).findings as { finding: string; level: string }[]
    expect(findings.filter(({ level }) => level === 'problem').map(({ finding }) => finding)).toEqual(DOCTOR_PROBLEMS)
    expect(findings.filter(({ finding }) => finding.includes('does not exist'))).toEqual([])
    expect(findings.filter(({ finding }) => finding.includes('acknowledges before syncing'))).toHaveLength(1)
  })
  it('that is away: serves all the same, and readiness says what is missing', async () => {
    const daemon = await serve({ NOETL_NATS_URL: 'nats://127.0.0.1:1' })
    const ready = await daemon.get('/readyz')
    expect(ready.status).toBe(503)
    expect(ready.body.checks).toMatchObject({ nats: { ok: false, required: true }, postgres: { ok: true } })
    expect((await daemon.get('/api/health')).body).toMatchObject({ status: 'ok', nats: 'disconnected' })
    expect((await daemon.get('/livez')).status).toBe(200)
    expect((await daemon.stop()).code).toBe(0)
  })
})

describe('a database that cannot be used', () => {
  it('is away: 69, with its address and without its password', async () => {
    const result = await ended(serve({ NOETL_DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' }))
    expect(result.code).toBe(69)
    expect(result.stderr).toContain('127.0.0.1:1/x')
    expect(result.stdout + result.stderr).not.toContain('hunter2')
  })
  it('has pending migrations: 78 and the two ways out', async () => {
    await database.sql('create schema noetl')
    await database.sql('create table noetl.resource (name text primary key, meta jsonb)')
    const result = await ended(serve())
    expect(result.code).toBe(78)
    expect(result.stderr).toContain('noetl-cp migrate')
    expect(result.stderr).toContain('NOETL_AUTO_MIGRATE')
    const daemon = await serve({ NOETL_AUTO_MIGRATE: 'true' })
    expect((await daemon.get('/readyz')).status).toBe(200)
  })
  it('is newer than the binary: 78', async () => {
    await (await serve()).stop()
    await database.sql("insert into noetl.cp_migration (version, name, checksum) values (9999, 'future', 'x')")
    const result = await ended(serve())
    expect([result.code, result.stderr.includes('install a newer noetl-cp')]).toEqual([78, true])
  })
})

describe('a taken port', () => {
  it('is refused with 4 and the address', async () => {
    const first = await serve()
    const result = await ended(serve({}, ['--port', new URL(first.url).port]))
    expect(result.code).toBe(4)
    expect(result.stderr).toContain('is taken')
  })
})
