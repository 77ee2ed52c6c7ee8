// Promise: connections cost what they send and no more. Requests whose answers nobody reads, and bodies that never end,
// neither slow others down nor fill the memory, with and without credentials.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { type Attacker, connectAttacker, expectUnmoved, postHead, sendAll } from './underAttack.js'

let database: TestDatabase
let daemon: Daemon
let executionId: string
const attackers: Attacker[] = []

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      NODE_OPTIONS: '--max-old-space-size=512',
      NOETL_CP_BODIES_MB: '64',
      NOETL_CP_ANSWERS_MB: '32',
    },
  })
  await post('/api/catalog/register', { content: playbook('tests/attacked') })
  executionId = ((await (await post('/api/execute', { path: 'tests/attacked' })).json()) as { execution_id: string })
    .execution_id
})
afterAll(async () => {
  for (const { socket } of attackers) socket.destroy()
  await daemon?.stop()
  await database?.drop()
})

const post = (path: string, body: unknown) =>
  fetch(new URL(path, daemon.url), {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })

const oneEvent = () => post('/api/events', { execution_id: executionId, step: 'a', event_type: 'step.enter' })

async function connectMany(count: number, reads: 'answers' | 'nothing'): Promise<Attacker[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => connectAttacker(daemon.url, reads)))
  attackers.push(...opened)
  return opened
}

function leave(opened: Attacker[]): void {
  for (const { socket } of opened) socket.destroy()
}

describe('requests whose answers are never read', () => {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

  it.each(['/openapi.json', '/metrics', '/nowhere'])('2 connections with 2.3 MB of GET %s', async (path) => {
    const data = request(path).repeat(Math.ceil(1_150_000 / request(path).length))
    await expectUnmoved(daemon, 100, async () => {
      const opened = await connectMany(2, 'nothing')
      await Promise.all(opened.map((attacker) => sendAll(attacker, data)))
      leave(opened)
    })
  })

  it('100 connections with as many as may wait', async () => {
    await expectUnmoved(daemon, 100, async () => {
      const opened = await connectMany(100, 'nothing')
      await Promise.all(opened.map((attacker) => sendAll(attacker, request('/metrics').repeat(30))))
      leave(opened)
    })
  })

  it('while who reads gets every answer, in order', async () => {
    const [attacker] = await connectMany(1, 'answers')
    await sendAll(
      attacker!,
      Array.from({ length: 20 }, (_, n) => request(n % 2 === 0 ? '/livez' : `/nowhere/${n}`)).join(''),
    )
    const statuses = () => [...attacker!.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    await until('all are answered', () => statuses().length === 20)
    expect(statuses()).toEqual(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? '200' : '404')))
    expect([...attacker!.received().matchAll(/"error":"[^"]*nowhere\/(\d+)/g)].map(([, n]) => Number(n))).toEqual(
      Array.from({ length: 10 }, (_, n) => 2 * n + 1),
    )
    leave([attacker!])
  })
})

describe('bodies that never end', () => {
  const piece = Buffer.alloc(65_536, 0x20)

  /** So many connections with most of what they announced, and then silence. */
  async function stall(count: number, head: string, data: Buffer, bytes: number): Promise<Attacker[]> {
    const opened = await connectMany(count, 'answers')
    await Promise.all(
      opened.map(async (attacker) => {
        await sendAll(attacker, head)
        for (let sent = 0; sent < bytes && !attacker.closed(); sent += data.length) await sendAll(attacker, data, 200)
      }),
    )
    return opened
  }

  it('are not read for listeners that nobody has: 100 times 10 MB', async () => {
    const head = postHead('/ingress/anything', { 'content-length': 10 * 1_048_576 })
    await expectUnmoved(daemon, 100, async () => {
      const opened = await stall(100, head, piece, 9 * 1_048_576)
      await until('everybody is answered', () => opened.every((attacker) => attacker.closed()))
      const answered = opened.filter((attacker) => attacker.received() !== '')
      for (const attacker of answered) expect(attacker.received()).toMatch(/^HTTP\/1.1 404 [\s\S]*no such listener/)
    })
  })

  it.each([
    ['40 times 4 MB', 40, { 'content-length': 4_000_000 }, piece, 503],
    ['pieces of one byte', 10, { 'transfer-encoding': 'chunked' }, Buffer.from('1\r\n \r\n'.repeat(11_000)), 400],
  ])('are held within one budget, and others are served: %s', async (_, count, headers, data, status) => {
    await expectUnmoved(daemon, 200, async () => {
      const opened = await stall(count, postHead('/api/events', headers), data, 3_600_000)
      expect((await oneEvent()).status).toBe(200)
      await until('some are refused', () =>
        opened.some((attacker) => attacker.received().startsWith(`HTTP/1.1 ${status} `)),
      )
      leave(opened)
    })
  })

  it('are not read for places that do not exist', async () => {
    const [attacker] = await connectMany(1, 'answers')
    await sendAll(attacker!, postHead('/nowhere', { 'content-length': 1_000_000 }))
    await until('it is answered', () => attacker!.received().startsWith('HTTP/1.1 404 '))
    leave([attacker!])
  })
})
