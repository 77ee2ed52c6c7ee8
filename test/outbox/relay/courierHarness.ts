// The publishing side of the relay alone, with what is around it in the hands of the test.
import type { PublishOutcome } from '../../../src/bus/publisher.js'
import type { Clock } from '../../../src/runtime/clock.js'
import { createCourier } from '../../../src/services/outbox/relay/courier.js'
import { createExecutionQueues } from '../../../src/services/outbox/relay/executionQueues.js'
import type { Found } from '../../../src/services/outbox/relay/findStored.js'

export const turn = () => new Promise((resolve) => setImmediate(resolve))

const nothing = () => undefined

interface Sent {
  subject: string
  headers: string
  body: string
  done(outcome: PublishOutcome): void
}

/** A courier with a clock, a publisher and a stream of the test; `offer` hands it a row. */
export function openCourier(rowMore: { payload?: string; event_type?: string } = {}) {
  const seen = { now: 1_000, asked: 0, found: { kind: 'stored', seq: 7 } as Found, sent: [] as Sent[] }
  const queues = createExecutionQueues()
  const courier = createCourier({
    queues,
    publisher: {
      publish: (message, _now, done) => seen.sent.push({ ...message, done }),
      flush: nothing,
      inFlight: () => 0,
      maxPayload: () => 1_000_000,
      close: nothing,
    },
    settler: { published: nothing, failed: nothing, unanswered: nothing, drain: async () => undefined },
    clock: { monotonic: () => seen.now, sleep: () => new Promise(nothing) } as unknown as Clock,
    random: () => 0.5,
    limits: {
      window: 10,
      page: 10,
      attemptsMax: 9,
      deadPolicy: 'release',
      ackTimeoutMs: 5_000,
    } as never,
    hooks: { onOutcome: nothing, onPublished: nothing, onPossibleDuplicate: nothing, onPaused: nothing } as never,
    message: {
      clusterId: 'c',
      subjectOf: () => 'n.e',
      subjectPrefix: 'n',
      publicUrl: () => 'http://cp:8082',
      tellsWorkers: () => true,
    },
    stream: () => ({ maxMessageBytes: Number.POSITIVE_INFINITY, duplicateWindowMs: 120_000 }),
    mayPublish: () => true,
    findStored: async () => {
      seen.asked += 1
      return seen.found
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
    has_failed: false,
    subject: 'n.e',
    payload: '{}',
    trace: null,
    event_type: null,
    stream_version: '1',
  }
  return {
    seen,
    courier,
    offer: (more: Partial<typeof row> = {}) => queues.offer({ ...row, ...rowMore, ...more }, seen.now),
  }
}
