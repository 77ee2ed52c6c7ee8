// Promise: a replay ends. By its deadline, by the caller, or with its thread; and none of it concerns anybody else.
// However long the log, memory holds the state and little more.
import { fileURLToPath } from 'node:url'
import { BroadcastChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import { createSeedLoop, type TakenSeed } from '../../src/services/replay/seeds.js'
import { useDatabase } from '../support/database.js'
import { IS_LONG } from '../support/scale.js'
import { holds, until } from '../support/until.js'
import { type Harness, openReplay, replay } from './replayHarness.js'

const database = useDatabase()
let harness: Harness
const LONG = '7001'
const SHORT = '7002'
const LONG_TOO = '7005'
/** Kept as a whole they would take more than the 64 MB of a thread. */
const EVENTS = 100_000
const KILLABLE = fileURLToPath(new URL('./killableEntry.mjs', import.meta.url))

beforeAll(async () => {
  harness = openReplay(database.get())
  await plantSeries(LONG, EVENTS)
  await plantEvents(LONG_TOO, EVENTS)
  await plantSeries(SHORT, 10)
})
afterAll(() => harness.close())

async function plantSeries(executionId: string, count: number): Promise<void> {
  await plantEvents(executionId, count)
  await database
    .get()
    .sql(
      `insert into noetl.execution (execution_id, catalog_id, status, stream_version, event_count) values ($1::bigint, 1, 'UNKNOWN', $2::int, $2::int)`,
      [executionId, count],
    )
}

/** A long log whose state is small, made by the server. */
async function plantEvents(executionId: string, count: number, after = 0): Promise<void> {
  await database.get().sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, meta, command_id, stream_version)
     select $1::bigint, 1000000 + n, 1, case n % 3 when 0 then 'command.issued' when 1 then 'command.started' else 'command.completed' end,
       'step ' || n % 10, null, jsonb_build_object('loop_id', 'L', 'worker_id', 'w' || n % 5, 'n', n, 'text', repeat('x', 500)), n % 100, n
     from generate_series($3::int + 1, $3::int + $2::int) as n`,
    [executionId, count, after],
  )
}

describe('a long log', () => {
  it(`of ${EVENTS} events folds in a thread of 64 MB`, async () => {
    const small = openReplay(database.get(), { memoryMb: 64, threads: 1 })
    try {
      const output = await replay(small, { execution_id: LONG })
      expect(output.eventsRead).toBe(EVENTS)
      expect(output.document.byteLength).toBeLessThan(200_000)
    } finally {
      await small.close()
    }
  })

  it.runIf(IS_LONG)('of a million events folds in a thread of 256 MB', async () => {
    for (let after = 0; after < 1_000_000; after += 100_000) await plantEvents('7004', 100_000, after)
    const small = openReplay(database.get(), { memoryMb: 256, threads: 1 })
    try {
      const output = await replay({ ...small, timeoutMs: 120_000 }, { execution_id: '7004' })
      expect(output.eventsRead).toBe(1_000_000)
      expect(output.document.byteLength).toBeLessThan(200_000)
    } finally {
      await small.close()
    }
  })

  it('is counted while it is read', async () => {
    const progress = new SharedArrayBuffer(4)
    const running = replay(harness, { execution_id: LONG }, { progress })
    await until('some events are counted', () => Atomics.load(new Int32Array(progress), 0) > 0)
    await running
    expect(Atomics.load(new Int32Array(progress), 0)).toBe(EVENTS)
  })
})

describe('a replay that is stopped', () => {
  const others = async () => {
    const output = await replay(harness, { execution_id: SHORT })
    expect(output.eventsRead).toBe(10)
  }

  it('by its caller ends at once, with a code, and leaves no connection behind', async () => {
    const cancel = new AbortController()
    const progress = new SharedArrayBuffer(4)
    const running = replay(harness, { execution_id: LONG }, { signal: cancel.signal, progress })
    running.catch(() => undefined)
    await until('it is on its way', () => Atomics.load(new Int32Array(progress), 0) > 0)
    cancel.abort()
    const [, failure] = await Promise.all([others(), running.catch((error: unknown) => error)])
    expect(failure).toMatchObject({ code: 'cancelled' })
    await until('its session is gone', async () => (await sessions()) === 0)
    await others()
  })

  it('by its deadline says so', async () => {
    const hurried = { ...harness, timeoutMs: 50 }
    await expect(replay(hurried, { execution_id: LONG })).rejects.toMatchObject({ code: 'timeout' })
    await others()
  })

  it('by lack of memory fails alone', async () => {
    // A state that cannot fit: every event its own command.
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, meta, command_id, stream_version)
       select 7003, n, 1, 'command.issued', jsonb_build_object('locality', jsonb_build_object('t', repeat(n::text, 60))), n, n
       from generate_series(1, 120000) as n`,
    )
    const small = openReplay(database.get(), { memoryMb: 64, threads: 2 })
    try {
      const [big, other] = await Promise.allSettled([
        replay(small, { execution_id: '7003' }),
        replay(small, { execution_id: SHORT }),
      ])
      expect(big).toMatchObject({ status: 'rejected', reason: { code: 'overloaded' } })
      expect(other.status).toBe('fulfilled')
    } finally {
      await small.close()
    }
  })

  it('by the death of its thread is run again; by another one it fails alone, with a code, and the next one works', async () => {
    const killable = openReplay(database.get(), { entry: KILLABLE, threads: 2 })
    const wire = new BroadcastChannel('kill the thread that folds')
    const begin = async () => {
      const progress = new SharedArrayBuffer(4)
      const ended = replay(killable, { execution_id: LONG }, { progress }).catch((error: unknown) => error)
      await until('it is on its way', () => Atomics.load(new Int32Array(progress), 0) > 0)
      return { ended }
    }
    try {
      const once = await begin()
      wire.postMessage(LONG)
      expect(await once.ended).toMatchObject({ eventsRead: EVENTS })

      const beside = replay(killable, { execution_id: LONG_TOO })
      const running = await begin()
      const killing = setInterval(() => wire.postMessage(LONG), 20)
      const failure = await running.ended
      clearInterval(killing)
      expect(failure).toMatchObject({ code: 'internal', message: expect.stringMatching(/thread of replay died/) })
      expect((await beside).eventsRead).toBe(EVENTS)
      const again = await Promise.all([LONG, SHORT].map((id) => replay(killable, { execution_id: id })))
      expect(again.map(({ eventsRead }) => eventsRead)).toEqual([EVENTS, 10])
      await until('its session is gone', async () => (await sessions()) === 0)
    } finally {
      wire.close()
      await killable.close()
    }
  })

  it('by a lost connection fails with a code, and the next one works', async () => {
    const progress = new SharedArrayBuffer(4)
    const running = replay(harness, { execution_id: LONG }, { progress }).catch((error: unknown) => error)
    await until('it is on its way', () => Atomics.load(new Int32Array(progress), 0) > 0)
    await database
      .get()
      .sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%from noetl.event%'`,
      )
    expect(await running).toMatchObject({ code: 'unavailable' })
    await others()
  })

  async function sessions(): Promise<number> {
    const rows = await database
      .get()
      .sql(
        `select 1 from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`,
      )
    return rows.length
  }
})

describe('the loop that stores seeds', () => {
  it('takes long executions, leaves short ones, and comes back when they have grown', async () => {
    const taken: TakenSeed[] = []
    const errors: unknown[] = []
    const loop = createSeedLoop({
      ...harness,
      clock: { ...systemClock, sleep: (ms, ...signals) => systemClock.sleep(Math.min(ms, 20), ...signals) },
      random: () => 0.5,
      eventsMin: 1_000,
      onTaken: (seed) => taken.push(seed),
      onError: (error) => errors.push(error),
    })
    await loop.start()
    try {
      await until('the long one has a seed', () => taken.length > 0)
      expect(taken[0]).toMatchObject({ executionId: LONG, stored: true, eventCount: String(EVENTS) })
      expect((await replay(harness, { execution_id: LONG, from_snapshot: 'true' })).eventsRead).toBe(0)
      await holds('it is taken once', () => taken.length === 1)
    } finally {
      await loop.stop(1_000)
    }
    expect(errors).toEqual([])
  })
})
