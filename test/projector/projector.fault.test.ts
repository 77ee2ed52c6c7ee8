// Promise: the stream feeds the log exactly once: own messages are skipped, foreign ones stored, poison set aside
// without blocking, a message is acknowledged only after its commit, and kill -9 at any moment loses nothing.
import { randomBytes } from 'node:crypto'
import { connect, headers, type NatsConnection } from 'nats'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

let database: TestDatabase
let daemon: Daemon
let nats: NatsConnection
let env: Record<string, string>
const name = `t${randomBytes(4).toString('hex')}`
const subject = `${name}.events.default.default.1.0`

beforeAll(async () => {
  const { natsUrl, natsToken } = inject('servers')
  database = await cloneDatabase(inject('servers'))
  nats = await connect({ servers: natsUrl, token: natsToken })
  env = {
    NOETL_DATABASE_URL: database.url,
    NOETL_NATS_URL: natsUrl,
    NOETL_NATS_TOKEN: natsToken,
    NOETL_EVENT_NATS_STREAM: name,
    NOETL_EVENT_NATS_SUBJECT_PREFIX: `${name}.events`,
    NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
  }
  daemon = await startDaemon([], { env })
})
afterAll(async () => {
  await daemon?.stop()
  const manager = await nats.jetstreamManager()
  await manager.streams.delete(name).catch(() => undefined)
  await nats.close()
  await database?.drop()
})

const clusterId = async (): Promise<string> =>
  (await database.sql<{ id: string }>('select cluster_id::text as id from noetl.cp_identity'))[0]!.id
async function publish(data: string | Uint8Array, origin = 'another-installation'): Promise<void> {
  const head = headers()
  head.set('Noetl-Origin', origin)
  await nats.jetstream().publish(subject, typeof data === 'string' ? Buffer.from(data) : data, { headers: head })
}
const envelope = (executionId: number | bigint, eventId: number | bigint): string =>
  `{"execution_id":${executionId},"event_id":${eventId},"event_type":"step.enter","node_name":"n","timestamp":"2026-04-01T12:00:00Z"}`
const stored = async (executionId: number | bigint): Promise<{ n: number; versions: number; high: number }> =>
  (
    await database.sql<{ n: number; versions: number; high: number }>(
      'select count(*)::int as n, count(distinct stream_version)::int as versions, coalesce(max(stream_version), 0)::int as high from noetl.event where execution_id = $1',
      [executionId],
    )
  )[0]!
const settled = () =>
  until(
    'the consumer has nothing left',
    async () => {
      const manager = await nats.jetstreamManager()
      // One durable per installation, named after it; there is only this one here.
      const [info] = await manager.consumers.list(name).next()
      if (info === undefined) return false
      return info.num_pending === 0 && info.num_ack_pending === 0
    },
    { timeoutMs: 120_000 },
  )
const cli = (...args: string[]) => builtCli([...args, '--json'], { env })

describe('the stream', () => {
  it('is stored when it comes from elsewhere and skipped when it is our own', async () => {
    await publish(envelope(2n ** 60n + 1n, 2n ** 61n + 1n))
    await publish(envelope(502, 1), await clusterId())
    await publish(envelope(503, 1))
    await until('the foreign ones are stored', async () => (await stored(503)).n === 1)
    await settled()
    expect(await stored(2n ** 60n + 1n)).toEqual({ n: 1, versions: 1, high: 1 })
    expect((await stored(502)).n).toBe(0)
    const [outbox] = await database.sql('select count(*)::int as n from noetl.outbox')
    expect(outbox).toEqual({ n: 0 })
  })

  it('is not held up by poison, which is set aside', async () => {
    for (const poison of ['not JSON', '{"execution_id":1}', '', Buffer.alloc(900_000, 0xee), '[1]'])
      await publish(poison)
    await publish(envelope(510, 1))
    await until('the good one behind the poison is stored', async () => (await stored(510)).n === 1)
    await settled()
    const list = await cli('projector', 'quarantine', 'list')
    expect(list.code).toBe(0)
    const { quarantined } = JSON.parse(list.stdout)
    expect(quarantined).toHaveLength(5)
    for (const row of quarantined)
      expect(row).toMatchObject({ source: 'stream', attempts: 1, reason: expect.stringMatching(/\w/) })
    expect(quarantined.map((row: { bytes: number }) => row.bytes)).toContain(900_000)
  })

  it('again changes nothing', async () => {
    for (let turn = 0; turn < 3; turn++) await publish(envelope(503, 1))
    await publish(envelope(503, 2))
    await until('the new one is stored', async () => (await stored(503)).n === 2)
    await settled()
    expect(await stored(503)).toEqual({ n: 2, versions: 2, high: 2 })
  })
})

describe('the quarantine on the command line', () => {
  it('retries and drops, with exit codes that say how it went', async () => {
    const { quarantined } = JSON.parse((await cli('projector', 'quarantine', 'list')).stdout)
    const [first, second] = quarantined.map((row: { quarantine_id: string }) => row.quarantine_id)
    const retried = await cli('projector', 'quarantine', 'retry', first)
    expect(retried.code).toBe(75)
    expect(JSON.parse(retried.stdout).results).toEqual([
      { quarantine_id: first, outcome: 'failed', reason: expect.any(String) },
    ])
    expect((await cli('projector', 'quarantine', 'retry')).code).toBe(2)
    expect((await cli('projector', 'quarantine', 'retry', '99999')).code).toBe(3)
    // Somebody repaired the cause: here, the envelope itself.
    await database.sql('update noetl.projector_quarantine set envelope = $2 where quarantine_id = $1', [
      second,
      Buffer.from(envelope(520, 1)),
    ])
    const repaired = await cli('projector', 'quarantine', 'retry', second)
    expect([repaired.code, JSON.parse(repaired.stdout).results[0].outcome]).toEqual([0, 'stored'])
    expect(await stored(520)).toEqual({ n: 1, versions: 1, high: 1 })

    expect((await cli('projector', 'quarantine', 'drop', first)).code).toBe(2)
    expect(JSON.parse((await cli('projector', 'quarantine', 'drop', first, '--yes')).stdout)).toEqual({ dropped: 1 })
    expect((await cli('projector', 'quarantine', 'drop', first, '--yes')).code).toBe(3)
    expect(JSON.parse((await cli('projector', 'quarantine', 'drop', '--all', '--yes')).stdout)).toEqual({ dropped: 3 })
    const table = await builtCli(['projector', 'quarantine', 'list'], { env })
    expect(table.stdout).toContain('nothing is set aside')
  })
})

describe('kill -9 in the middle', () => {
  it('loses nothing and stores nothing twice', async () => {
    const count = 1_500
    const publishing = Promise.all(Array.from({ length: count }, (_, n) => publish(envelope(600 + (n % 5), n + 1))))
    await until('some are stored', async () => (await stored(600)).n > 0, { everyMs: 5 })
    daemon.signal('SIGKILL')
    await publishing
    await daemon.finished
    const before = (await Promise.all([600, 601, 602, 603, 604].map(stored))).reduce((sum, { n }) => sum + n, 0)
    expect(before).toBeLessThan(count)
    daemon = await startDaemon([], { env })
    await settled()
    for (const executionId of [600, 601, 602, 603, 604])
      expect(await stored(executionId)).toEqual({ n: count / 5, versions: count / 5, high: count / 5 })
  })
})
