// Reads unsettled rows of the outbox for the relay and offers them to its queues. Ids are given out before commit, so a
// lower id may become visible after a higher one; the reader must find it all the same, and in order. One read at a time.
//
// A pass does four things, each bounded:
//
//   1. catchUp    up to 32 executions that are due: their wait is over, or earlier rows of theirs were passed over
//   2. readFront  the next page after `front`, the highest id read so far. Before it is offered, rows of the same
//                 executions that appeared behind the front are read and offered first
//   3. front      moves to the last row of the page
//   4. sweep      every second (0.15 s when idle): 5,000 rows behind the front, to find what appeared late and holds
//                 that an operator has cut short
//
//   front at 0 ──pass──▶ front moves on ──pass──▶ …
//       ▲                       │
//       └── lanes were gained ──┘ restart(): their rows may lie behind the front. A page that was being read then is
//                                 thrown away
import { LANE_COUNT } from '../../../domain/leases/lane.js'
import type { Clock } from '../../../runtime/clock.js'
import { startSpan } from '../../../runtime/tracing.js'
import type { OutboxReads, OutboxRow } from '../../../stores/outbox/outboxStore.js'
import type { LeaseKeeper } from '../../leases/leaseKeeper.js'
import { type ExecutionQueues, keyOf } from './executionQueues.js'
import { createVersionTrail } from './versionTrail.js'

export interface ReaderDeps {
  table: OutboxReads
  clock: Clock
  queues: ExecutionQueues
  lanes: Pick<LeaseKeeper, 'usable'>
  /** A row was queued that was first sent at `since` and got no answer. */
  onUnanswered(row: OutboxRow, since: number): void
  limits: { page: number; bufferMax: number; deadPolicy: 'release' | 'hold' }
}

export interface Reader {
  /** One bounded pass: `some` rows to publish, or probably `more` of them behind those. */
  pass(signal: AbortSignal): Promise<'none' | 'some' | 'more'>
  /** Lanes were gained: their rows may lie behind the front. */
  restart(lanes: readonly number[]): void
  /** The last read was a full page: there is probably more. */
  hasMore(): boolean
  /** Rows settled while a read was under way: that read may still show them as unsettled. */
  forgetDuringRead(ids: readonly string[]): void
}

const CATCH_UP_EXECUTIONS = 32
const VISIT_PAGES_MAX = 8
const CATCH_UP_ROWS = 500
const SWEEP_VISIT = 5_000
const SWEEP_MS = 1_000
// With nothing else to do it comes with the poll; appends in quick succession need not pay for it each time.
const SWEEP_IDLE_MS = 150

export function createReader({ table, clock, queues, lanes, limits, onUnanswered }: ReaderDeps): Reader {
  const settledMeanwhile = new Set<string>()
  const unexplored: number[] = []
  const versions = createVersionTrail()
  let front = '0'
  let sweepFrom = '0'
  let sweptAt = Number.NEGATIVE_INFINITY
  let wasFull = false
  let generation = 0

  function offerAll(rows: readonly OutboxRow[]): number {
    const now = clock.monotonic()
    // Lanes may have come or gone while the read was under way; only what is ours now counts.
    const readable = new Set(lanes.usable())
    let queued = 0
    for (const row of rows) {
      if (!row.owned || !readable.has(row.lane) || settledMeanwhile.has(row.outbox_id)) continue
      if (queues.offer(row, now) !== 'queued') continue
      queued += 1
      if (row.unanswered_ms !== undefined) onUnanswered(row, now - row.unanswered_ms)
    }
    return queued
  }

  /** Held executions whose time has come, and executions whose earlier rows were passed over. */
  async function catchUp(signal: AbortSignal): Promise<number> {
    let queued = 0
    for (const key of queues.takeDue(clock.monotonic(), CATCH_UP_EXECUTIONS)) {
      if (signal.aborted) {
        queues.caughtUp(key, false)
        continue
      }
      try {
        settledMeanwhile.clear()
        const rows = key.startsWith('row:')
          ? await table.rows([key.slice(4)])
          : await table.execution(key, CATCH_UP_ROWS, limits.deadPolicy === 'hold')
        queued += offerAll(rows)
        queues.caughtUp(key, rows.length < CATCH_UP_ROWS)
      } catch (error) {
        queues.caughtUp(key, false)
        throw error
      }
    }
    return queued
  }

  async function readFront(): Promise<{ isFull: boolean; queued: number }> {
    settledMeanwhile.clear()
    const before = generation
    const held = lanes.usable()
    // Whoever shares with others finds its part of what it visits: a page of its own needs more visits.
    const visit = Math.min(limits.page * VISIT_PAGES_MAX, Math.ceil((limits.page * LANE_COUNT) / held.length))
    const rows = await table.unsettled(front, visit, held)
    // How many it visited of others is not told: one more look will tell.
    const isFull = held.length === LANE_COUNT ? rows.length === visit : rows.length > 0
    const late = await appearedBehind(rows)
    // New lanes meanwhile: this page has passed their rows over. Nothing of it counts; begin again.
    if (before !== generation) return { isFull: true, queued: 0 }
    const queued = offerAll(late) + offerAll(rows)
    const last = rows[rows.length - 1]
    if (last !== undefined) front = last.outbox_id
    return { isFull, queued }
  }

  /** Earlier rows of these executions that committed when the front had passed their ids. */
  async function appearedBehind(page: readonly OutboxRow[]): Promise<OutboxRow[]> {
    const executions = new Set<string>()
    for (const row of page) {
      if (!row.owned || row.execution_id === null || versions.follows(row.execution_id, row.stream_version)) continue
      if (!queues.isBehind(row.execution_id)) executions.add(row.execution_id)
    }
    if (front === '0' || executions.size === 0) return []
    const ids = await table.earlierIds([...executions], front)
    const missed = ids.filter((id) => !queues.isKnown(id) && !settledMeanwhile.has(id))
    return missed.length === 0 ? [] : table.rows(missed)
  }

  async function sweep(): Promise<number> {
    sweptAt = clock.monotonic()
    settledMeanwhile.clear()
    const rows = await table.sweep({ after: sweepFrom, upTo: front, visit: SWEEP_VISIT }, lanes.usable())
    sweepFrom = rows.length < SWEEP_VISIT ? '0' : rows[rows.length - 1]!.outbox_id
    const held = new Set<string>()
    for (const row of rows) {
      const key = keyOf(row)
      if (!row.owned || held.has(key) || !queues.isBehind(key)) continue
      // The first row of an execution that waits: somebody may have cut its waiting short.
      held.add(key)
      if (row.due) queues.release(key, clock.monotonic())
    }
    const missed = rows.filter(
      (row) =>
        row.owned &&
        !queues.isKnown(row.outbox_id) &&
        !settledMeanwhile.has(row.outbox_id) &&
        !queues.isBehind(keyOf(row)),
    )
    if (missed.length === 0) return 0
    const room = Math.max(0, limits.bufferMax - queues.size())
    return offerAll(await table.rows(missed.slice(0, Math.min(limits.page, room)).map((row) => row.outbox_id)))
  }

  /** Dead rows ahead of others are not found by status; with the policy `hold` their executions must wait. */
  async function holdBehindDead(): Promise<void> {
    const fresh = unexplored.splice(0)
    if (fresh.length === 0 || limits.deadPolicy !== 'hold') return
    try {
      const now = clock.monotonic()
      for (const row of await table.deadExecutions(fresh)) queues.holdExecution(row.execution_id, row.lane, now)
    } catch (error) {
      unexplored.push(...fresh)
      throw error
    }
  }

  return {
    pass: async (signal) => {
      if (lanes.usable().length === 0) return 'none'
      const since = performance.now()
      await holdBehindDead()
      let queued = await catchUp(signal)
      const room = limits.bufferMax - queues.size()
      // Whole pages only: a read costs nearly the same for a few rows.
      if (room < limits.page) return queued > 0 ? 'some' : 'none'
      const read = await readFront()
      queued += read.queued
      wasFull = read.isFull
      const isIdle = read.queued === 0 && !read.isFull
      if (clock.monotonic() - sweptAt > (isIdle ? SWEEP_IDLE_MS : SWEEP_MS)) queued += await sweep()
      // Rows of many traces: it belongs to none of them. A look that found nothing is not worth a span.
      if (queued > 0) startSpan('noetl.claim', { since, attributes: { 'noetl.rows': queued } }).end()
      // A full page of other relays' rows is not a reason to rest either: go on to our own.
      if (wasFull) return 'more'
      return queued > 0 ? 'some' : 'none'
    },
    restart: (gained) => {
      generation += 1
      versions.clear()
      unexplored.push(...gained)
      front = '0'
      sweepFrom = '0'
    },
    hasMore: () => wasFull,
    forgetDuringRead: (ids) => {
      for (const id of ids) settledMeanwhile.add(id)
    },
  }
}
