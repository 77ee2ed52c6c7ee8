// Promise: the log tells with fields of their own which machine id and which share a daemon has and why, and what becomes
// of subscriptions; and a snapshot that cannot be used is named.
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { pullDocument } from '../subscriptions/specs.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'

let database: TestDatabase
const daemons: Daemon[] = []

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
})
// A daemon left running would hold executions that a later test gives to its own one.
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop()))
})
afterAll(async () => {
  await database.drop()
})

async function serve(env: Record<string, string>): Promise<Daemon> {
  const daemon = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.url, NOETL_CP_LOG_FORMAT: 'json', ...env },
  })
  daemons.push(daemon)
  return daemon
}

function linesOf(daemon: Daemon): Record<string, unknown>[] {
  return daemon
    .stderr()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

const lineWith = (daemon: Daemon, fields: Record<string, unknown>) =>
  until(`a line with ${JSON.stringify(fields)}`, () =>
    linesOf(daemon).find((line) => Object.entries(fields).every(([name, value]) => line[name] === value)),
  )

describe('at the start', () => {
  it('the machine id and the share are told, with their source', async () => {
    const byHost = await serve({
      HOSTNAME: 'noetl-cp-2',
      NOETL_SHARD_INDEX_FROM_HOSTNAME: 'true',
      NOETL_SHARD_COUNT: '3',
    })
    await lineWith(byHost, { level: 'info', shardIndex: 2, shardCount: 3, source: 'host name', databases: 1 })
    const told = linesOf(byHost).find((line) => line['machineId'] !== undefined)
    expect(told).toMatchObject({ level: 'info', source: 'host name' })

    const bySetting = await serve({ NOETL_SERVER_MACHINE_ID: '77', NOETL_SHARD_INDEX: '1', NOETL_SHARD_COUNT: '2' })
    await lineWith(bySetting, { machineId: 77, source: 'NOETL_SERVER_MACHINE_ID' })
    await lineWith(bySetting, { shardIndex: 1, shardCount: 2, source: 'NOETL_SHARD_INDEX' })

    // The same name again: its machine id is taken.
    const second = await serve({ HOSTNAME: 'noetl-cp-2' })
    await lineWith(second, { shardIndex: 0, shardCount: 1, source: 'default' })
    await lineWith(second, { machineId: Number(told!['machineId']) + 1, source: 'next free one' })
  })
})

describe('a subscription', () => {
  it('is told when it is registered, reused, updated and changed', async () => {
    const daemon = await serve({})
    const post = async (path: string, body: unknown = {}) => {
      const response = await fetch(new URL(path, daemon.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(response.status, path).toBeLessThan(300)
      return (await response.json()) as { subscription_id: unknown }
    }
    const path = 'tests/told'
    const document = (extra: string) => pullDocument({ path, stream: 'SOME', subject: 'some.>', extra })
    for (const content of [playbook('tests/handler'), document('')]) await post('/api/catalog/register', { content })
    await post('/api/subscriptions', { path })
    const { subscription } = await lineWith(daemon, { path, from: null, to: 'REGISTERED' })
    await post('/api/subscriptions', { path })
    await lineWith(daemon, {
      subscription,
      path,
      to: 'REGISTERED',
      msg: 'the subscription was registered before and is reused',
    })
    await post('/api/catalog/register', { content: document('description: newer\n') })
    await post('/api/subscriptions', { path })
    await lineWith(daemon, { subscription, path, msg: 'a subscription took a newer version of its entry' })
    for (const [action, from, to] of [
      ['activate', 'REGISTERED', 'ACTIVE'],
      ['pause', 'ACTIVE', 'PAUSED'],
      ['deactivate', 'PAUSED', 'DEACTIVATED'],
    ]) {
      await post(`/api/subscriptions/${subscription}/${action}`)
      await lineWith(daemon, { level: 'info', subscription, path, from, to })
    }
    const repeated = linesOf(daemon).length
    await post(`/api/subscriptions/${subscription}/deactivate`)
    expect(
      linesOf(daemon)
        .slice(repeated)
        .filter((line) => line['subscription'] === subscription),
    ).toEqual([])
  })
})

it('a snapshot that cannot be used is told with its execution and version', async () => {
  const daemon = await serve({ NOETL_CP_SNAPSHOT_EVENTS: '1' })
  const post = (path: string, body: unknown) =>
    fetch(new URL(path, daemon.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/api/catalog/register', { content: playbook('tests/damaged') })
  const started = await post('/api/execute', { path: 'tests/damaged', driven: false })
  const { execution_id } = (await started.json()) as { execution_id: unknown }
  const executionId = String(execution_id)
  const damaged = () =>
    database.sql(
      `update noetl.projection_snapshot set checksum = 'x' where aggregate_id = '${executionId}' returning version`,
    )
  await until('there is a snapshot', async () => (await damaged()).length === 1)
  await daemon.stop()
  const next = await serve({})
  expect((await next.get(`/api/executions/${executionId}/state`)).status).toBe(200)
  await lineWith(next, { level: 'warn', executionId, version: 1, reason: 'checksum' })
})
