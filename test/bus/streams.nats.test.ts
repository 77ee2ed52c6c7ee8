// Promise: the event stream is created with settings we state, never with the server's defaults; a stream that
// is already there is left alone, and what does not fit is said in words.
import { randomBytes } from 'node:crypto'
import { connect, type NatsConnection, nanos, RetentionPolicy, StorageType } from 'nats'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { ensureStream, findStream, type StreamWanted } from '../../src/bus/streams.js'

let connection: NatsConnection
const made: string[] = []
beforeAll(async () => {
  const { natsUrl, natsToken } = inject('servers')
  connection = await connect({ servers: natsUrl, token: natsToken })
})
afterEach(async () => {
  const manager = await connection.jetstreamManager()
  for (const name of made.splice(0)) await manager.streams.delete(name).catch(() => undefined)
})
afterAll(() => connection.close())

function wanted(changes: Partial<StreamWanted> = {}): StreamWanted {
  const name = `T_${randomBytes(4).toString('hex')}`
  made.push(name)
  return { name, subjects: [`${name}.>`], maxAgeSeconds: 3_600, duplicateWindowSeconds: 120, replicas: 1, ...changes }
}

describe('a stream that is not there', () => {
  it('is found missing without being made, then made as asked', async () => {
    const want = wanted()
    expect(await findStream(connection, want)).toBeUndefined()
    expect(await ensureStream(connection, want)).toEqual({
      created: true,
      messages: 0,
      bytes: 0,
      limits: { maxMessageBytes: Number.POSITIVE_INFINITY, duplicateWindowMs: 120_000 },
      complaints: [],
    })
    const { config } = await (await connection.jetstreamManager()).streams.info(want.name)
    expect(config).toMatchObject({
      subjects: want.subjects,
      retention: 'limits',
      storage: 'file',
      discard: 'old',
      max_age: nanos(3_600_000),
      duplicate_window: nanos(120_000),
      num_replicas: 1,
    })
    expect(await ensureStream(connection, want)).toMatchObject({ created: false, complaints: [] })
  })
  it('may be made by several at once', async () => {
    const want = wanted()
    const results = await Promise.all([1, 2, 3, 4].map(() => ensureStream(connection, want)))
    expect(results.every(({ complaints }) => complaints.length === 0)).toBe(true)
  })
  it('never gets a window longer than its retention, which the server would refuse', async () => {
    expect(await ensureStream(connection, wanted({ maxAgeSeconds: 60 }))).toMatchObject({
      created: true,
      limits: { duplicateWindowMs: 60_000 },
      complaints: [],
    })
  })
})

describe('a stream that is there', () => {
  it('is not changed; what matters is complained about', async () => {
    const want = wanted()
    const manager = await connection.jetstreamManager()
    const config = {
      name: want.name,
      subjects: ['elsewhere.>'],
      storage: StorageType.Memory,
      retention: RetentionPolicy.Workqueue,
      duplicate_window: nanos(5_000),
      max_age: nanos(3_600_000),
    }
    await manager.streams.add(config)
    const found = await ensureStream(connection, want)
    expect(found.created).toBe(false)
    expect(found.complaints).toEqual([
      'duplicate window is 5 s, 120 s are wanted',
      `does not bind ${want.name}.> but elsewhere.>`,
      'is kept in memory; a restart of NATS loses it',
      'has retention workqueue; messages vanish when they are consumed',
    ])
    expect((await manager.streams.info(want.name)).config).toMatchObject({
      storage: 'memory',
      duplicate_window: nanos(5_000),
    })
  })
})

describe('a failure', () => {
  it('has a code of ours and names the stream', async () => {
    const first = wanted()
    await ensureStream(connection, first)
    // The server refuses two streams on the same subjects.
    const second = wanted({ subjects: first.subjects })
    await expect(ensureStream(connection, second)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(second.name),
    })
  })
})
