// Promise: what may be stored already is looked up, not sent again, once JetStream no longer knows its message id.
import { expect, it } from 'vitest'
import type { PublishOutcome } from '../../../src/bus/publisher.js'
import type { Clock } from '../../../src/runtime/clock.js'
import { createCourier } from '../../../src/services/outbox/relay/courier.js'
import { createExecutionQueues } from '../../../src/services/outbox/relay/executionQueues.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function setUp() {
  const state = { now: 1_000, asked: 0, sent: [] as ((outcome: PublishOutcome) => void)[] }
  const queues = createExecutionQueues()
  const nothing = () => undefined
  const courier = createCourier({
    queues,
    publisher: {
      publish: (_message, _now, done) => state.sent.push(done),
      flush: nothing,
      inFlight: () => 0,
      maxPayload: () => 1_000_000,
      close: nothing,
    },
    settler: { published: nothing, failed: nothing, unanswered: nothing, drain: async () => undefined },
    clock: { monotonic: () => state.now, sleep: () => new Promise(nothing) } as unknown as Clock,
    random: () => 0.5,
    limits: {
      window: 10,
      page: 10,
      attemptsMax: 9,
      deadPolicy: 'release',
      ackTimeoutMs: 5_000,
    } as never,
    hooks: { onOutcome: nothing, onPublished: nothing, onPossibleDuplicate: nothing } as never,
    message: {
      clusterId: 'c',
      subjectOf: () => 'n.e',
      subjectPrefix: 'n',
      publicUrl: () => '',
      tellsWorkers: () => false,
    },
    stream: () => ({ maxMessageBytes: Number.POSITIVE_INFINITY, duplicateWindowMs: 120_000 }),
    mayPublish: () => true,
    findStored: async () => {
      state.asked += 1
      return { kind: 'stored', seq: 7 }
    },
    onHungry: nothing,
    signal: new AbortController().signal,
  })
  const row = {
    outbox_id: '1',
    owned: true,
    lane: 1,
    execution_id: '7',
    event_id: '1',
    attempts: 0,
    wait_ms: 0,
    unanswered_ms: undefined,
  }
  const offer = () =>
    queues.offer(
      { ...row, subject: 'n.e', payload: '{}', trace: null, event_type: null, stream_version: '1' },
      state.now,
    )
  return { state, courier, offer }
}

it.each([
  [50_000, 0],
  [116_000, 1],
])('sent once without an answer, after %i ms', async (elapsed, lookups) => {
  const { state, courier, offer } = setUp()
  offer()
  courier.schedule()
  await turn()
  expect(state.sent).toHaveLength(1)
  state.now += elapsed
  state.sent[0]!({ kind: 'unknown', reason: 'no answer' })
  await turn()
  expect({ lookups: state.asked, sent: state.sent.length, published: courier.published() }).toEqual({
    lookups,
    sent: 2 - lookups,
    published: BigInt(lookups),
  })
})

it.each([
  ['while JetStream knows its id it is sent', { up: '1', after: 90_000, lookups: 0 }],
  ['when it is sent later than that, it is looked for', { up: '1', after: 90_001, lookups: 1 }],
  ['a row that came after the owner had vanished is sent', { up: '0', after: 90_001, lookups: 0 }],
])('of an owner that vanished: %s', async (_, { up, after, lookups }) => {
  const { state, courier, offer } = setUp()
  courier.suspect(1, up, state.now + 90_000)
  state.now += after
  offer()
  courier.schedule()
  await turn()
  expect({ lookups: state.asked, sent: state.sent.length }).toEqual({ lookups, sent: 1 - lookups })
})
