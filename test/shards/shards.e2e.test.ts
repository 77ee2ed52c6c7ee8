// Promise: executions are spread over the databases by their id and nothing else; one dead shard, at any time and
// also at the start, leaves the others working, is named, and is taken back by itself; wrong settings stop the start.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { shardOf } from '../../src/domain/shards/shards.js'
import { type Daemon, runBinary, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const COUNT = 3
let shards: TestDatabase[]
let cluster: TestDatabase
let proxies: TcpProxy[]
let clusterProxy: TcpProxy
let env: Record<string, string>
let daemon: Daemon

async function through(database: TestDatabase): Promise<{ proxy: TcpProxy; url: string }> {
  const url = new URL(database.url)
  const proxy = await startTcpProxy(url.hostname, Number(url.port))
  url.port = String(proxy.port)
  return { proxy, url: url.toString() }
}

beforeAll(async () => {
  shards = await Promise.all(Array.from({ length: COUNT }, () => cloneDatabase(inject('servers'), { empty: true })))
  cluster = await cloneDatabase(inject('servers'), { empty: true })
  const links = await Promise.all(shards.map(through))
  const clusterLink = await through(cluster)
  proxies = links.map(({ proxy }) => proxy)
  clusterProxy = clusterLink.proxy
  env = {
    NOETL_SHARDS: links.map(({ url }) => url).join(','),
    NOETL_CLUSTER_DSN: clusterLink.url,
    NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
    NOETL_CP_ADOPT_INTERVAL: '0.1',
    NOETL_CP_PG_CONNECT_TIMEOUT: '1',
  }
})
afterAll(async () => {
  await daemon?.stop()
  await Promise.all([...proxies, clusterProxy].map((proxy) => proxy.close()))
  await Promise.all([...shards, cluster].map((database) => database.drop()))
})

async function post(path: string, body: unknown): Promise<{ status: number; body: any; headers: Headers }> {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

const execute = async (): Promise<string> =>
  (await post('/api/execute', { path: 'tests/shards', driven: false })).body.execution_id
const shardOfId = (id: string): number => shardOf(id, COUNT)
async function executeOn(shard: number): Promise<string> {
  for (;;) {
    const answer = await post('/api/execute', { path: 'tests/shards', driven: false })
    if (answer.status === 200 && shardOfId(answer.body.execution_id) === shard) return answer.body.execution_id
  }
}
const countOf = async (database: TestDatabase, table: string): Promise<number> =>
  (await database.sql<{ n: number }>(`select count(*)::int as n from noetl.${table}`))[0]!.n

describe('a start with a dead shard', () => {
  it('serves the others, names the dead one, and prepares its schema when it comes back', async () => {
    proxies[2]!.setMode('refuse')
    daemon = await startDaemon([], { env })
    const ready = await daemon.get('/readyz')
    expect(ready.status).toBe(503)
    expect(ready.body.checks).toMatchObject({
      shard0: { ok: true },
      shard1: { ok: true },
      cluster: { ok: true },
      shard2: { ok: false, detail: expect.stringContaining(String(proxies[2]!.port)) },
    })
    expect((await post('/api/catalog/register', { content: playbook('tests/shards') })).status).toBe(200)
    const working = [await executeOn(0), await executeOn(1)]
    const list = await fetch(new URL('/api/executions?limit=100', daemon.url))
    expect(list.status).toBe(200)
    expect(list.headers.get('x-noetl-failed-shards')).toBe('2')
    const listed = await list.text()
    for (const id of working) expect(listed).toContain(id)

    proxies[2]!.setMode('pass')
    await until('the shard is back', async () => (await daemon.get('/readyz')).status === 200)
    const healed = await executeOn(2)
    expect((await daemon.get(`/api/executions/${healed}`)).status).toBe(200)
    expect(daemon.stdout() + daemon.stderr()).toContain('the shard is back and its schema is ready')
  })
})

describe('rows', () => {
  it('lie in the database that the id names, cluster tables in theirs', async () => {
    const ids = await Promise.all(Array.from({ length: 24 }, execute))
    expect(new Set(ids.map(shardOfId)).size).toBe(COUNT)
    await Promise.all(ids.map((id) => post('/api/events', { execution_id: id, step: 's', event_type: 'step.enter' })))
    for (const [shard, database] of shards.entries()) {
      const found = await database.sql<{ id: string; n: number; o: number }>(
        'select e.execution_id::text as id, count(*)::int as n, count(o.outbox_id)::int as o from noetl.event e left join noetl.outbox o using (execution_id, event_id) group by 1',
      )
      for (const { id } of found) expect(shardOfId(id)).toBe(shard)
      const mine = ids.filter((id) => shardOfId(id) === shard)
      expect(found.filter(({ id }) => mine.includes(id))).toHaveLength(mine.length)
      for (const id of mine) expect(found).toContainEqual({ id, n: 2, o: 2 })
      expect(await countOf(database, 'catalog')).toBe(0)
    }
    expect(await countOf(cluster, 'event')).toBe(0)
    expect(await countOf(cluster, 'catalog')).toBe(1)
    const applied = await Promise.all([...shards, cluster].map((database) => countOf(database, 'cp_migration')))
    expect(new Set(applied).size).toBe(1)
  })

  it('are listed over all shards, newest first, without gap or repeat', async () => {
    const all: string[] = []
    let cursor: string | null = null
    do {
      const response: Response = await fetch(
        new URL(`/api/executions?limit=5${cursor === null ? '' : `&cursor=${cursor}`}`, daemon.url),
      )
      const text = await response.text()
      all.push(...[...text.matchAll(/"execution_id":"(\d+)"/g)].map((match) => match[1]!))
      cursor = response.headers.get('x-noetl-next-cursor')
    } while (cursor !== null)
    const stored = await Promise.all(shards.map((database) => countOf(database, 'execution')))
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBe(stored.reduce((sum, n) => sum + n, 0))
  })

  it('of others are adopted on every shard', async () => {
    const base = 10_000n
    const foreign = Array.from({ length: 9 }, (_, n) => String(base + BigInt(n)))
    for (const id of foreign)
      await shards[shardOfId(id)]!.sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, event_type) values ($1, 1, 7, 'playbook_started')`,
        [id],
      )
    for (const id of foreign)
      await until(`${id} is adopted`, async () => (await daemon.get(`/api/executions/${id}/status`)).status === 200)
  })

  it('of a dedup key and its execution share a database, whoever asks', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        post('/api/execute', { path: 'tests/shards', driven: false, dedup: { key: `key-${n % 4}`, window_secs: 60 } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    const started = answers.filter(({ body }) => body.status === 'started').map(({ body }) => body.execution_id)
    expect(started).toHaveLength(4)
    for (const id of started) {
      const [row] = await shards[shardOfId(id)]!.sql<{ n: number }>(
        'select count(*)::int as n from noetl.subscription_dedup d join noetl.event e using (execution_id) where execution_id = $1',
        [id],
      )
      expect(row).toEqual({ n: 1 })
    }
  })
})

describe('a shard that dies', () => {
  it('is named, answers 503 for its own executions, and heals', async () => {
    const there = await executeOn(1)
    const elsewhere = await executeOn(0)
    proxies[1]!.setMode('refuse')
    await until('readyz names it', async () => (await daemon.get('/readyz')).body?.checks.shard1.ok === false)
    const event = (id: string) => post('/api/events', { execution_id: id, step: 's', event_type: 'step.enter' })
    expect((await event(elsewhere)).status).toBe(200)
    const refused = await event(there)
    expect(refused).toMatchObject({
      status: 503,
      body: { status: 503, error: expect.stringContaining('cannot reach') },
    })
    const list = await fetch(new URL('/api/executions', daemon.url))
    expect([list.status, list.headers.get('x-noetl-failed-shards')]).toEqual([200, '1'])
    proxies[1]!.setMode('pass')
    await until('it is back', async () => (await event(there)).status === 200)
    await until('readyz is green', async () => (await daemon.get('/readyz')).status === 200)
  })
})

describe('settings that stop the start', () => {
  const url = 'postgres://u:sekret@127.0.0.1:1/a'
  it.each([
    [
      'index not below count',
      { NOETL_DATABASE_URL: url, NOETL_SHARD_INDEX: '2', NOETL_SHARD_COUNT: '2' },
      /index 2 .*count 2/,
    ],
    ['count 0', { NOETL_DATABASE_URL: url, NOETL_SHARD_COUNT: '0' }, /NOETL_SHARD_COUNT/],
    ['an unreadable count', { NOETL_DATABASE_URL: url, NOETL_SHARD_COUNT: 'two' }, /NOETL_SHARD_COUNT/],
    ['a malformed DSN', { NOETL_SHARDS: 'host=a;usr=b' }, /NOETL_SHARDS item 1/],
    ['a duplicate DSN', { NOETL_SHARDS: `${url},${url}` }, /item 2.*same database/],
    [
      'a host name without a number',
      { NOETL_DATABASE_URL: url, NOETL_SHARD_INDEX_FROM_HOSTNAME: 'true', HOSTNAME: 'pod' },
      /HOSTNAME/,
    ],
  ])('%s: exit 78, all in words, no password', async (_name, settings, says) => {
    const done = await runBinary(['serve', '--port', '0'], { env: settings })
    expect(done.code).toBe(78)
    expect(done.stderr).toMatch(says)
    expect(done.stdout + done.stderr).not.toContain('sekret')
  })

  it('a count of 2 with one database is fine', async () => {
    const [database] = shards
    const second = await startDaemon([], {
      env: { NOETL_DATABASE_URL: database!.url, NOETL_SHARD_INDEX: '1', NOETL_SHARD_COUNT: '2' },
    })
    expect((await second.get('/readyz')).status).toBe(200)
    await second.stop()
  })

  it('the cluster database being away: exit 69, and it is named', async () => {
    clusterProxy.setMode('refuse')
    const done = await runBinary(['serve', '--port', '0'], { env })
    clusterProxy.setMode('pass')
    expect(done.code).toBe(69)
    expect(done.stderr).toContain(`127.0.0.1:${clusterProxy.port}`)
    expect(done.stderr).toMatch(/cluster database/)
  })
})
