// Promise: worker pools that speak NoETL's contract can announce themselves, stay alive with a bare name, leave by POST or
// DELETE, and are listed with what is known about them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { cli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let daemon: Daemon

beforeAll(async () => {
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url, NOETL_CP_WORKER: 'false' } })
})
afterAll(() => daemon?.stop())

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: any; text: string }> {
  const answer = await fetch(new URL(path, daemon.url), {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: JSON.parse(text), text }
}
const list = (...more: string[]) =>
  cli(['worker', 'list', ...more], { env: { NOETL_DATABASE_URL: database.get().url } })

const WORKER = {
  name: 'pool-a-1',
  component_type: 'worker_pool',
  runtime: { type: 'rust', version: '5.91.1' },
  status: 'ready',
  hostname: 'node-7',
  labels: { pool_name: 'shared' },
  capabilities: { tools: ['http', 'rhai'] },
  capacity: 16,
}

it('registers, and registers again under the same id, with the host name kept', async () => {
  const first = await call('POST', '/api/worker/pool/register', WORKER)
  expect(first.status).toBe(200)
  expect(first.text).toMatch(/"runtime_id":\d+,/)
  expect(first.body).toMatchObject({
    name: 'pool-a-1',
    kind: 'worker_pool',
    status: 'ready',
    labels: { pool_name: 'shared' },
    capabilities: { tools: ['http', 'rhai'] },
    capacity: 16,
    runtime: { type: 'rust', version: '5.91.1', hostname: 'node-7' },
  })
  const again = await call('POST', '/api/worker/pool/register', { ...WORKER, capacity: 8 })
  expect(again.text.match(/"runtime_id":(\d+)/)![1]).toBe(first.text.match(/"runtime_id":(\d+)/)![1])
  expect(again.body.capacity).toBe(8)
})

it('takes a sign of life of a name it does not know', async () => {
  expect(await call('POST', '/api/worker/pool/heartbeat', { name: 'only-a-name' })).toMatchObject({
    status: 200,
    body: { status: 'ok' },
  })
  const { body } = await call('GET', '/api/worker/pools?kind=worker_pool')
  expect(body.items.map((item: any) => [item.name, item.alive])).toEqual([
    ['only-a-name', true],
    ['pool-a-1', true],
  ])
})

it('shows one that fell silent and one that left as not alive', async () => {
  await database.get().sql(`update noetl.runtime set heartbeat = now() - interval '46 s' where name = 'only-a-name'`)
  expect((await call('DELETE', '/api/worker/pool/deregister', { name: 'pool-a-1' })).status).toBe(200)
  const { body } = await call('GET', '/api/worker/pools')
  expect(body.items.map((item: any) => item.alive)).toEqual([false, false])
  expect((await list()).stdout).toContain('no worker is alive')
  const all = (await list('--all')).stdout
  expect(all).toMatch(/pool-a-1.*ended/)
  expect(all).toMatch(/only-a-name.*silent/)
  await call('POST', '/api/worker/pool/register', WORKER)
  expect((await call('POST', '/api/worker/pool/deregister', { name: 'pool-a-1', kind: 'worker_pool' })).status).toBe(
    200,
  )
})

it('refuses what is not a pool with a sentence', async () => {
  expect((await call('POST', '/api/worker/pool/register', {})).status).toBe(400)
  expect(await call('POST', '/api/worker/pool/heartbeat', { name: 'x', kind: 'teapot' })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('worker_pool') },
  })
})
