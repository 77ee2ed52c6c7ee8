// Promise: a row that was sent long ago is found wherever the stream holds it, also behind an older row of its execution
// that was sent again later; and a reader whose consumer vanished still answers.
import { randomBytes } from 'node:crypto'
import { connect, headers, type NatsConnection } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import type { Bus } from '../../../src/bus/connect.js'
import { createPublisher } from '../../../src/bus/publisher.js'
import { readMessageIds, readRecentHeaders } from '../../../src/bus/streamReader.js'
import { ensureStream } from '../../../src/bus/streams.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { findStored } from '../../../src/services/outbox/relay/findStored.js'
import { expectingLast, type MessageSettings, toMessage } from '../../../src/services/outbox/relay/message.js'
import type { OutboxRow } from '../../../src/stores/outbox/outboxStore.js'
import { until } from '../../support/until.js'
import { row } from './rows.js'

let connection: NatsConnection
let stream: string
beforeAll(async () => {
  const { natsUrl, natsToken } = inject('servers')
  connection = await connect({ servers: natsUrl, token: natsToken })
})
beforeEach(async () => {
  stream = `T_${randomBytes(4).toString('hex')}`
  await ensureStream(connection, {
    ...{ name: stream, subjects: [`${stream}.>`], maxAgeSeconds: 3_600, duplicateWindowSeconds: 120, replicas: 1 },
  })
})
afterEach(async () => {
  await (await connection.jetstreamManager()).streams.delete(stream)
})
afterAll(() => connection.close())

const settings: MessageSettings = {
  clusterId: 'here',
  subjectOf: (row) => `${stream}.${row.execution_id}`,
  get subjectPrefix() {
    return stream
  },
  publicUrl: () => 'http://localhost',
  tellsWorkers: () => false,
}

/** As the relay sends it. */
async function send(sent: OutboxRow): Promise<number> {
  const built = toMessage(sent, 1_000_000, settings)
  if (!built.ok) throw new Error(built.reason)
  const head = headers()
  for (const line of built.message.headers.trimEnd().split('\r\n')) {
    const [name, value] = line.split(': ')
    head.set(name!, value!)
  }
  const ack = await connection.jetstream().publish(built.message.subject, built.message.body, { headers: head })
  return ack.seq
}

const bus = (): Bus => ({ connection: () => connection }) as Bus
const find = (asked: OutboxRow) => findStored(bus(), stream, settings.subjectOf(asked), asked)

it('finds a row behind an older one that was sent again after it, and not one that never came', async () => {
  const [first, second, third] = [row(1, 7), row(2, 7), row(3, 7)]
  expect(await find(first)).toEqual({ kind: 'absent', lastSeq: 0, nothingNewer: true })
  const seq = await send(second)
  expect(await find(first)).toEqual({ kind: 'absent', lastSeq: seq, nothingNewer: false })
  expect(await find(third)).toEqual({ kind: 'absent', lastSeq: seq, nothingNewer: true })
  expect(await find(second)).toEqual({ kind: 'stored', seq })
  // The stream had lost it; the audit has sent it back.
  const lastSeq = await send({ ...first, has_failed: true })
  expect(await find(second)).toEqual({ kind: 'stored', seq })
  expect(await find(third)).toEqual({ kind: 'absent', lastSeq, nothingNewer: false })
})

it('a copy that the broker reads late, when it has forgotten the id, is refused if the row arrived in between', async () => {
  const manager = await connection.jetstreamManager()
  await manager.streams.update(stream, { duplicate_window: 100_000_000 })
  await send(row(1, 7))
  const asked = await find(row(2, 7))
  const seq = await send(row(2, 7))
  const later = await send(row(1, 8))
  await until('ids are forgotten', async () => (await send(row(1, 8))) !== later)
  const publisher = createPublisher({ bus: bus(), clock: systemClock, ackTimeoutMs: 5_000 })
  const built = toMessage(row(2, 7), 1_000_000, settings)
  if (!built.ok || asked.kind !== 'absent') throw new Error('it must be absent at first')
  const outcome = new Promise((resolve) => {
    publisher.publish(expectingLast(built.message, asked.lastSeq!), systemClock.monotonic(), resolve)
  })
  publisher.flush()
  expect(await outcome).toMatchObject({ kind: 'unknown' })
  expect(await find(row(2, 7))).toEqual({ kind: 'stored', seq })
  publisher.close()
})

it('answers although its consumer is gone', async () => {
  for (let id = 1; id <= 4; id++) await send(row(id, 7))
  const losing = new Proxy(connection, {
    get: (target, name) => {
      if (name !== 'jetstreamManager') return Reflect.get(target, name, target)
      return async () => {
        const manager = await target.jetstreamManager()
        const add = manager.consumers.add.bind(manager.consumers)
        manager.consumers.add = async (of, config) => {
          const added = await add(of, config)
          await manager.consumers.delete(of, added.name)
          return added
        }
        return manager
      }
    },
  })
  expect([...(await readMessageIds(losing, stream, [1, 2, 3, 4, 5])).keys()].sort()).toEqual([1, 2, 3, 4])
})

it('finds nothing in a stream that never had a message, without a complaint, and the first one as soon as it is there', async () => {
  const recent = async () => readRecentHeaders(connection, stream, { sinceMs: 0, most: 10 })
  expect(await recent()).toEqual([])
  const seq = await send(row(1, 7))
  expect((await recent()).map((message) => message.seq)).toEqual([seq])
})
