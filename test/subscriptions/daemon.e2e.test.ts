// Promise: with real daemons and the command line: a pause holds over kill -9 and restart, a drain that was killed in
// the middle is completed by the next daemon, and no message is lost or started twice, over two databases.
import { connect, type NatsConnection } from 'nats'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { holds, until } from '../support/until.js'
import { pullDocument, pushDocument } from './specs.js'

let shards: TestDatabase[]
let stream: TestStream
let source: NatsConnection
let env: Record<string, string>
const daemons: Daemon[] = []
const SOURCE = `SRC_${process.pid}_${Math.random().toString(36).slice(2, 8)}`

beforeAll(async () => {
  const servers = inject('servers')
  shards = await Promise.all([1, 2].map(() => cloneDatabase(servers)))
  stream = await useStream(servers)
  source = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  const jsm = await source.jetstreamManager()
  await jsm.streams.add({ name: SOURCE, subjects: [`${SOURCE}.>`] })
  env = {
    ...stream.env,
    NOETL_SHARDS: shards.map((shard) => shard.url).join(','),
    NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
    NOETL_SECRET_TEST_HOOK: 'shh',
    NOETL_CP_SUBSCRIPTION_LEASE: '3',
    NOETL_CP_LOG_LEVEL: 'warn',
    POSTGRES_MAX_CONNECTIONS: '5',
  }
})
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL')))
  await (await source.jetstreamManager()).streams.delete(SOURCE)
  await source.close()
  await stream.close()
  await Promise.all(shards.map((shard) => shard.drop()))
})

async function serve(): Promise<Daemon> {
  const daemon = await startDaemon([], { env })
  daemons.push(daemon)
  return daemon
}

async function cli(...args: string[]) {
  const result = await builtCli([...args, '--json'], { env })
  return {
    code: result.code,
    stderr: result.stderr,
    json: result.stdout === '' ? undefined : JSON.parse(result.stdout),
  }
}

async function post(daemon: Daemon, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

async function publish(subject: string, from: number, count: number): Promise<void> {
  const js = source.jetstream()
  await Promise.all(
    Array.from({ length: count }, (_, n) => js.publish(subject, JSON.stringify({ n: from + n }), { timeout: 30_000 })),
  )
}

async function startedNumbers(id: string): Promise<number[]> {
  const rows = await Promise.all(
    shards.map((shard) =>
      shard.sql<{ n: number }>(
        `select (context -> 'workload' ->> 'n')::int as n from noetl.event where parent_execution_id = $1::bigint`,
        [id],
      ),
    ),
  )
  return rows
    .flat()
    .map((row) => row.n)
    .sort((a, b) => a - b)
}
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

describe('a pull subscription', () => {
  let daemon: Daemon
  let id: string

  it('is registered, activated and delivered', async () => {
    daemon = await serve()
    const content = pullDocument({ path: 'e2e/orders', stream: SOURCE, subject: `${SOURCE}.orders` })
    await post(daemon, '/api/catalog/register', { content: playbook('tests/handler') })
    await post(daemon, '/api/catalog/register', { content })
    const registered = await post(daemon, '/api/subscriptions', { path: 'e2e/orders' })
    expect(registered.status).toBe(200)
    id = registered.body.subscription_id
    expect(Object.keys(registered.body)).toEqual([
      'subscription_id',
      'path',
      'catalog_id',
      'state',
      'last_event_type',
      'updated_at',
    ])
    expect((await post(daemon, '/api/subscriptions/register', { path: 'e2e/orders' })).body).toEqual(registered.body)
    expect((await post(daemon, `/api/subscriptions/${id}/resume`, {})).status).toBe(422)
    expect((await post(daemon, `/api/subscriptions/${id}/explode`, {})).status).toBe(422)
    expect((await post(daemon, '/api/subscriptions/x/pause', {})).status).toBe(400)
    expect((await post(daemon, '/api/subscriptions/1/pause', {})).status).toBe(404)
    expect((await post(daemon, `/api/subscriptions/${id}/activate`, {})).body.state).toBe('ACTIVE')
    await publish(`${SOURCE}.orders`, 0, 50)
    await until('50 are started', async () => (await startedNumbers(id)).length === 50)
    const list = await daemon.get('/api/subscriptions?state=active&verbose=true')
    expect(list.body.subscriptions).toHaveLength(1)
    const backlog = await daemon.get(`/api/internal/subscriptions/${id}/backlog`, {
      authorization: `Bearer ${INTERNAL_TOKEN}`,
    })
    expect(backlog.body).toMatchObject({ subscription_id: id, state: 'ACTIVE', pending: 0 })
    await until('the metrics know', async () =>
      (await daemon.get('/metrics')).text.includes('noetl_cp_subscriptions{state="ACTIVE"} 1'),
    )
  })

  it('stays paused over kill -9 and restart, and goes on where it stopped', async () => {
    const paused = await cli('subscription', 'pause', id, '--reason', 'maintenance', '--actor', 'ann')
    expect(paused).toMatchObject({ code: 0, json: { state: 'PAUSED', changed: true, reason: 'maintenance' } })
    await until('the runtime lets go', async () => {
      const [row] = await shards[0]!.sql<{ owner: string | null }>('select owner from noetl.subscription')
      return row!.owner === null
    })
    await publish(`${SOURCE}.orders`, 50, 50)
    await daemon.stop('SIGKILL')
    daemon = await serve()
    await holds('nothing is started', async () => (await startedNumbers(id)).length === 50, { forMs: 1_500 })
    expect(await startedNumbers(id)).toEqual(upTo(50))
    const shown = await cli('subscription', 'show', id)
    expect(shown.json).toMatchObject({ state: 'PAUSED', actor: 'ann', backlog: { pending: 50 } })
    expect((await cli('subscription', 'drain', '1')).code).toBe(3)
    expect((await cli('subscription', 'resume', id)).json.state).toBe('ACTIVE')
    await until('100 are started', async () => (await startedNumbers(id)).length === 100)
    expect(await startedNumbers(id)).toEqual(upTo(100))
  })

  it('is paused for good although its daemon is frozen and wakes up later', async () => {
    const content = pullDocument({ path: 'e2e/frozen', stream: SOURCE, subject: `${SOURCE}.frozen` })
    await post(daemon, '/api/catalog/register', { content })
    const frozen = (await post(daemon, '/api/subscriptions', { path: 'e2e/frozen' })).body.subscription_id
    await post(daemon, `/api/subscriptions/${frozen}/activate`, {})
    await publish(`${SOURCE}.frozen`, 0, 1_500)
    await until('it is at work', async () => (await startedNumbers(frozen)).length > 0)
    daemon.signal('SIGSTOP')
    // Inside a transaction it keeps the pause from being sure, which then says so; otherwise the pause is final.
    const paused = await cli('subscription', 'pause', frozen, '--reason', 'frozen')
    expect([0, 69]).toContain(paused.code)
    const atReturn = await startedNumbers(frozen)
    daemon.signal('SIGCONT')
    if (paused.code !== 0) expect((await cli('subscription', 'pause', frozen)).code).toBe(0)
    const afterwards = paused.code === 0 ? atReturn : await startedNumbers(frozen)
    await holds('nothing is started', async () => (await startedNumbers(frozen)).length === afterwards.length, {
      forMs: 2_000,
    })
    await cli('subscription', 'resume', frozen)
    await until('all are started', async () => (await startedNumbers(frozen)).length >= 1_500, { timeoutMs: 120_000 })
    expect(await startedNumbers(frozen)).toEqual(upTo(1_500))
    await cli('subscription', 'deactivate', frozen)
  })

  it('is completed by the next daemon when the one that drained it was killed', async () => {
    await publish(`${SOURCE}.orders`, 100, 1_000)
    await until('it is at work', async () => (await startedNumbers(id)).length > 150)
    const draining = cli('subscription', 'drain', id)
    await until('it drains', async () => {
      const [row] = await shards[0]!.sql<{ state: string }>(
        'select state from noetl.subscription where subscription_id = $1::bigint',
        [id],
      )
      return row!.state !== 'ACTIVE'
    })
    await daemon.stop('SIGKILL')
    expect((await draining).code).toBe(0)
    const before = await startedNumbers(id)
    expect(new Set(before).size).toBe(before.length)
    const [one, two] = [await serve(), await serve()]
    await until('it is deactivated', async () => {
      const { body } = await one.get(`/api/subscriptions/${id}`)
      return body.state === 'DEACTIVATED'
    })
    const history = await cli('subscription', 'history', id)
    const types = history.json.events.map((event: { event_type: string }) => event.event_type.slice(13))
    expect(types).toEqual(['registered', 'activated', 'paused', 'resumed', 'draining', 'deactivated'])
    expect((await cli('subscription', 'resume', id)).code).toBe(4)
    // The same id again: what was committed and not acknowledged is recognised, the rest is delivered. Two daemons.
    await cli('subscription', 'activate', id)
    await until('all are started', async () => (await startedNumbers(id)).length >= 1_100, { timeoutMs: 120_000 })
    expect(await startedNumbers(id)).toEqual(upTo(1_100))
    expect((await two.get('/readyz')).status).toBe(200)
  })

  it('takes pushed messages on its open route', async () => {
    const one = daemons.at(-1)!
    const verify = '{type: bearer, secret: test_hook}'
    await post(one, '/api/catalog/register', { content: pushDocument({ path: 'e2e/hook', listener: 'hook', verify }) })
    const { body } = await post(one, '/api/subscriptions', { path: 'e2e/hook' })
    await post(one, `/api/subscriptions/${body.subscription_id}/activate`, {})
    const token = { authorization: 'Bearer shh' }
    expect((await post(one, '/ingress/hook', { n: 1 }, token)).status).toBe(202)
    expect((await post(one, '/ingress/hook', { n: 1 })).status).toBe(401)
    await post(one, `/api/subscriptions/${body.subscription_id}/pause`, {})
    const refused = await post(one, '/ingress/hook', { n: 1 }, token)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('30')
    expect((await one.get('/metrics')).text).toMatch(/ingress_requests_total\{listener="hook",outcome="accepted"\} 1/)
  })
})
