// Promise: what the relay writes into the table follows from what the broker answers. A real table and a publisher that
// answers as the test says: stored, refused for now, refused for good, silent, or away.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Publisher, PublishOutcome } from '../../../src/bus/publisher.js'
import { LANE_COUNT } from '../../../src/domain/leases/lane.js'
import { CpError } from '../../../src/errors.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { createMembership } from '../../../src/services/leases/membership.js'
import { createRelay, type Relay } from '../../../src/services/outbox/relay/relay.js'
import { useDatabase } from '../../support/database.js'
import { countBy, insertRows } from '../../support/outboxRows.js'
import { until } from '../../support/until.js'

interface Sent {
  messageId: string
  answer(outcome: PublishOutcome): void
}

const database = useDatabase()
let sent: Sent[]
let paused: string[]
let dead: string[]
let relay: Relay
/** Answers at once; undefined keeps the message on its way. */
let broker: (messageId: string) => PublishOutcome | undefined
/** What happens to a question before the database gets it. */
let onQuestion: (name: string) => Promise<void>
let onError: (error: CpError) => void

const stored = (seq: number): PublishOutcome => ({ kind: 'stored', seq, duplicate: false })

function fakePublisher(): Publisher {
  const onTheWay = new Set<Sent>()
  return {
    publish: (message, _now, done) => {
      const entry: Sent = {
        messageId: /^Nats-Msg-Id: (.+)\r$/m.exec(message.headers)![1]!,
        answer: (outcome) => {
          onTheWay.delete(entry)
          done(outcome)
        },
      }
      onTheWay.add(entry)
      sent.push(entry)
      const outcome = broker(entry.messageId)
      if (outcome !== undefined) queueMicrotask(() => entry.answer(outcome))
    },
    flush: () => undefined,
    inFlight: () => onTheWay.size,
    maxPayload: () => 1_000_000,
    close: () => undefined,
  }
}

beforeEach(async () => {
  await database.get().sql('truncate noetl.outbox restart identity')
  sent = []
  paused = []
  dead = []
  broker = () => stored(sent.length)
  onQuestion = async () => undefined
  onError = (error) => {
    throw error
  }
  const { db } = database.get()
  relay = createRelay(
    {
      db: {
        ...db,
        run: async (query, ...rest) => {
          await onQuestion(query.name)
          return db.run(query, ...rest)
        },
      },
      bus: { isConnected: () => true } as never,
      publisher: fakePublisher(),
      clock: systemClock,
      random: () => 0.5,
      membership: createMembership({ db, clock: systemClock, id: `test-${Math.random()}`, kind: 'daemon' }),
      message: {
        clusterId: 'c',
        subjectOf: () => 'test.x',
        subjectPrefix: 'test',
        publicUrl: () => '',
        tellsWorkers: () => false,
      },
      stream: () => ({ maxMessageBytes: Number.POSITIVE_INFINITY, duplicateWindowMs: 120_000 }),
      findStored: async () => ({ kind: 'absent', lastSeq: 0, nothingNewer: true }),
      hooks: {
        onPublished: () => undefined,
        onOutcome: () => undefined,
        onDead: (reason, why) => dead.push(`${why}: ${reason}`),
        onFenced: () => undefined,
        onTakenOver: () => undefined,
        onPossibleDuplicate: () => undefined,
        onPaused: (reason) => paused.push(reason),
        onError: (error) => onError(error),
      },
    },
    {
      window: 100,
      bufferMax: 1_000,
      page: 100,
      leaseMs: 15_000,
      idleMs: 100,
      attemptsMax: 3,
      deadPolicy: 'release',
      ackTimeoutMs: 5_000,
    },
    { share: false },
  )
})
afterEach(() => relay.stop(5_000))

const rows = () =>
  database
    .get()
    .sql<{ id: string; status: string; attempts: number; seq: string | null; silent: boolean; waits: boolean }>(
      `select outbox_id::text as id, status, attempts, stream_seq as seq, unanswered_since is not null as silent,
         available_at > now() as waits from noetl.outbox order by outbox_id`,
    )

describe('what the broker answers', () => {
  it('stored: one row of an execution after the other, each with its place in the stream', async () => {
    await insertRows(database.get(), { rows: 20, executions: 2, prefix: 'test' })
    broker = () => undefined
    await relay.start()
    await until('the first of each execution is sent', () => sent.length === 2)
    for (let next = 0; next < 20; next++) {
      await until('the next is sent', () => sent.length > next)
      sent[next]!.answer(stored(next + 1))
    }
    await until('all are settled', async () => (await countBy(database.get()))['PUBLISHED'] === 20)
    expect((await rows()).map(({ seq }) => seq === null)).not.toContain(true)
    expect(relay.stats()).toMatchObject({ published: 20n, inFlight: 0 })
  })

  it('refused for good: dead, named, and nobody waits for it', async () => {
    await insertRows(database.get(), { rows: 3, executions: 1, prefix: 'test' })
    broker = (messageId) =>
      messageId === sent[0]!.messageId ? { kind: 'rejected', reason: 'no such subject', permanent: true } : stored(1)
    await relay.start()
    await until('all are settled', async () => {
      const counts = await countBy(database.get())
      return counts['PUBLISHED'] === 2 && counts['DEAD'] === 1
    })
    expect(dead).toEqual(['rejected: no such subject'])
  })

  it('refused for now: it waits, and its execution behind it; others go on', async () => {
    await insertRows(database.get(), { rows: 4, executions: 2, prefix: 'test' })
    let refused: string | undefined
    broker = (messageId) => {
      refused ??= messageId
      return messageId === refused ? { kind: 'rejected', reason: 'not now', permanent: false } : stored(1)
    }
    await relay.start()
    await until('the other execution is published', async () => {
      const counts = await countBy(database.get())
      return counts['PUBLISHED'] === 2 && counts['FAILED'] === 1
    })
    expect((await rows()).filter(({ status }) => status === 'FAILED')).toMatchObject([{ attempts: 1, waits: true }])
  })

  it('away: everything pauses, is said once, and costs no row an attempt', async () => {
    await insertRows(database.get(), { rows: 5, executions: 5, prefix: 'test' })
    let isAway = true
    broker = () => (isAway ? { kind: 'unavailable', reason: 'no stream' } : stored(1))
    await relay.start()
    await until('it is paused and tried again', () => sent.length > 5)
    isAway = false
    await until('all are settled', async () => (await countBy(database.get()))['PUBLISHED'] === 5)
    expect(paused).toEqual(['no stream'])
    expect(Math.max(...(await rows()).map(({ attempts }) => attempts))).toBeLessThanOrEqual(1)
  })

  it('nothing: it is sent again, and the table knows that it may be stored', async () => {
    await insertRows(database.get(), { rows: 1, executions: 1, prefix: 'test' })
    broker = () => (sent.length === 1 ? { kind: 'unknown', reason: 'no answer' } : undefined)
    await relay.start()
    await until('it is sent again', () => sent.length === 2)
    await until('the table knows', async () => (await rows())[0]!.silent)
    sent[1]!.answer(stored(1))
    await until('it is settled', async () => (await countBy(database.get()))['PUBLISHED'] === 1)
    expect(sent[0]!.messageId).toBe(sent[1]!.messageId)
  })
})

describe('a relay that takes lanes from one that vanished', () => {
  const leases = async () => {
    const [found] = await database.get().sql<{ orphaned: number; until: string }>(
      `select count(orphaned_until)::int as orphaned, extract(epoch from min(lease_until))::text as until
       from noetl.lease where kind = 'outbox'`,
    )
    return found!
  }

  it('asks again how far that one has come if the question failed, and keeps its lanes while it waits for the answer', async () => {
    await database.get().sql(
      `insert into noetl.lease (kind, slot, owner, lease_until)
       select 'outbox', n, 'vanished', now() - interval '1 second' from generate_series(0, ${LANE_COUNT} - 1) n
       on conflict (kind, slot) do update set owner = excluded.owner, lease_until = excluded.lease_until`,
    )
    const errors: string[] = []
    onError = (error) => errors.push(error.message)
    let asked = 0
    let answer = (): void => undefined
    const waiting = new Promise<void>((resolve) => {
      answer = resolve
    })
    onQuestion = async (name) => {
      if (name !== 'outbox_orphans') return
      if (asked++ === 0) throw new CpError('unavailable', 'the database is away')
      await waiting
    }
    await relay.start()
    await until('it asks again', () => asked === 2)
    expect(errors).toEqual(['the database is away'])
    const { orphaned, until: before } = await leases()
    expect(orphaned).toBe(LANE_COUNT)
    await until('its leases go on', async () => Number((await leases()).until) > Number(before))
    expect(asked).toBe(2)
    answer()
    await until('nothing is suspect any more', async () => (await leases()).orphaned === 0)
  })
})
