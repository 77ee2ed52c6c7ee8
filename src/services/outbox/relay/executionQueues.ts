// The rows that a relay has in memory, one queue per execution. The queues keep the order: at most one row of an
// execution is on its way, and a row that fails or waits holds back the later rows of its own execution only.
//
// A row:        queued ──next()──▶ in flight ──acked()──▶ settling ──settled()──▶ forgotten
//                  ▲                   ├── again(): no answer, or the broker was away; first in its queue
//                  └───────────────────┤
//                                      └── hold(): refused; forgotten, and read again with its execution
//
// An execution: open ──hold(), or a row that must wait──▶ held ──time is over, or release()──▶ due
//                ▲  └──a row was offered while it was held──▶ behind (earlier rows are only in the table)
//                └──caughtUp(complete)── takeDue(): all its rows are read from the table again ◀── due, behind
//
// No clock and no IO here: times are arguments, so that random schedules can be tried (test/outbox/relay/reader.test.ts).
import { compareIds } from '../../../domain/ids/ids.js'
import type { OutboxRow } from '../../../stores/outbox/outboxStore.js'

export interface ExecutionQueues {
  /** Takes a row that was read. `known`: already here. `behind`: its execution is held or has earlier rows unread. */
  offer(row: OutboxRow, now: number): 'queued' | 'known' | 'behind'
  /** The next row that may be published; it counts as in flight from now on. */
  next(): OutboxRow | undefined
  /** Stored by the broker; its execution may go on, the row is remembered until it is settled. */
  acked(row: OutboxRow): void
  /** Dead, and its execution goes on without it; like an acknowledged one it is remembered until that is written. */
  givenUp(row: OutboxRow): void
  settled(ids: readonly string[]): void
  /** Not delivered for reasons that are not its own: it stays at the front of its execution. */
  again(row: OutboxRow): void
  /** Its execution waits until then; what else was queued of it is dropped and read again. */
  hold(row: OutboxRow, until: number, now: number): void
  /** The reason to wait is gone: an operator asked for a retry. Not for a hold so young that its mark may be unwritten. */
  release(key: string, now: number): void
  /** An execution that must wait for another reason, such as a dead row ahead. */
  holdExecution(key: string, lane: number, now: number): void
  /** Executions whose time has come, or whose earlier rows must be read before later ones. */
  takeDue(now: number, limit: number): string[]
  /** The rows of an execution were read to the end (or to a limit: `complete` false). */
  caughtUp(key: string, complete: boolean): void
  /** Forgets everything of lanes that are no longer ours. In-flight rows are forgotten too: their outcome is void. */
  dropLanes(lanes: ReadonlySet<number>): void
  /** When the next held execution is due; undefined when none waits. */
  nextDue(): number | undefined
  isKnown(outboxId: string): boolean
  /** Held, or with earlier rows unread: offering more of it changes nothing. */
  isBehind(key: string): boolean
  /** Rows in memory: queued, in flight and settling. */
  size(): number
  queued(): number
  inFlight(): number
  /** Of the given lanes; to know when they can be given back. */
  sizeOfLanes(lanes: ReadonlySet<number>): number
}

interface Entry {
  key: string
  lane: number
  rows: OutboxRow[]
  inFlight: OutboxRow | undefined
  heldUntil: number | undefined
  heldAt: number
  /** Rows exist in the table that must be read before newer ones may be queued. */
  behind: boolean
  /** Already in the list of runnable executions. */
  listed: boolean
}

/** Rows without an execution have nobody to be in order with: each is a queue of its own. */
export function keyOf(row: { execution_id: string | null; outbox_id: string }): string {
  return row.execution_id ?? `row:${row.outbox_id}`
}

// The refusal is written to the table a moment after the hold begins; until then the row still looks ready.
const YOUNG_HOLD_MS = 2_000

export function createExecutionQueues(): ExecutionQueues {
  const entries = new Map<string, Entry>()
  const known = new Map<string, number>()
  const attention = new Set<Entry>()
  let runnable: Entry[] = []
  let runnableHead = 0
  let queuedRows = 0
  let flying = 0

  function entryOf(key: string, lane: number): Entry {
    let entry = entries.get(key)
    if (entry === undefined) {
      entry = {
        key,
        lane,
        rows: [],
        inFlight: undefined,
        heldUntil: undefined,
        heldAt: 0,
        behind: false,
        listed: false,
      }
      entries.set(key, entry)
    }
    return entry
  }

  function list(entry: Entry): void {
    if (entry.listed || entry.inFlight !== undefined || entry.heldUntil !== undefined || entry.rows.length === 0) return
    entry.listed = true
    runnable.push(entry)
  }

  function tidy(entry: Entry): void {
    if (entry.rows.length > 0 || entry.inFlight !== undefined) return
    if (entry.heldUntil !== undefined || entry.behind) attention.add(entry)
    else entries.delete(entry.key)
  }

  function dropQueued(entry: Entry): void {
    for (const row of entry.rows) known.delete(row.outbox_id)
    queuedRows -= entry.rows.length
    if (entry.rows.length > 0) entry.behind = true
    entry.rows = []
  }

  function hold(entry: Entry, until: number, now: number): void {
    dropQueued(entry)
    entry.heldUntil = until
    entry.heldAt = now
    entry.behind = true
    attention.add(entry)
  }

  function insert(entry: Entry, row: OutboxRow): void {
    const last = entry.rows[entry.rows.length - 1]
    if (last === undefined || compareIds(last.outbox_id, row.outbox_id) < 0) entry.rows.push(row)
    else {
      // A lower id that became visible late goes before what has not been sent yet.
      const at = entry.rows.findIndex((other) => compareIds(other.outbox_id, row.outbox_id) > 0)
      entry.rows.splice(at, 0, row)
    }
  }

  function land(row: OutboxRow): Entry | undefined {
    const entry = entries.get(keyOf(row))
    if (entry === undefined || entry.inFlight !== row) return undefined
    entry.inFlight = undefined
    flying -= 1
    return entry
  }

  function leave(row: OutboxRow): void {
    const entry = land(row)
    if (entry === undefined) return
    list(entry)
    tidy(entry)
  }

  return {
    offer: (row, now) => {
      if (known.has(row.outbox_id)) return 'known'
      const entry = entryOf(keyOf(row), row.lane)
      if (entry.heldUntil !== undefined || entry.behind) {
        entry.behind = true
        attention.add(entry)
        return 'behind'
      }
      if (row.wait_ms > 0) {
        // Earlier rows go first; the wait begins when they are gone.
        if (entry.inFlight === undefined && entry.rows.length === 0) hold(entry, now + row.wait_ms, now)
        else entry.behind = true
        return 'behind'
      }
      insert(entry, row)
      known.set(row.outbox_id, row.lane)
      queuedRows += 1
      list(entry)
      return 'queued'
    },
    next: () => {
      while (runnableHead < runnable.length) {
        const entry = runnable[runnableHead++]!
        if (runnableHead > 1024 && runnableHead * 2 > runnable.length) {
          runnable = runnable.slice(runnableHead)
          runnableHead = 0
        }
        entry.listed = false
        if (entry.inFlight !== undefined || entry.heldUntil !== undefined) continue
        const row = entry.rows.shift()
        if (row === undefined) continue
        queuedRows -= 1
        flying += 1
        entry.inFlight = row
        return row
      }
      return undefined
    },
    acked: leave,
    givenUp: leave,
    settled: (ids) => {
      for (const id of ids) known.delete(id)
    },
    again: (row) => {
      const entry = land(row)
      if (entry === undefined) return
      entry.rows.unshift(row)
      queuedRows += 1
      list(entry)
    },
    hold: (row, until, now) => {
      const entry = land(row)
      known.delete(row.outbox_id)
      if (entry !== undefined) hold(entry, until, now)
    },
    release: (key, now) => {
      const entry = entries.get(key)
      if (entry?.heldUntil === undefined || now - entry.heldAt < YOUNG_HOLD_MS) return
      entry.heldUntil = Number.NEGATIVE_INFINITY
    },
    holdExecution: (key, lane, now) => hold(entryOf(key, lane), now, now),
    takeDue: (now, limit) => {
      const due: string[] = []
      for (const entry of attention) {
        if (due.length >= limit) break
        if (entries.get(entry.key) !== entry) {
          attention.delete(entry)
          continue
        }
        if (entry.heldUntil !== undefined && entry.heldUntil > now) continue
        if (entry.inFlight !== undefined || entry.rows.length > 0) continue
        attention.delete(entry)
        entry.heldUntil = undefined
        entry.behind = false
        due.push(entry.key)
      }
      return due
    },
    caughtUp: (key, complete) => {
      const entry = entries.get(key)
      if (entry === undefined) return
      if (!complete) {
        entry.behind = true
        attention.add(entry)
      }
      tidy(entry)
    },
    dropLanes: (lanes) => {
      for (const entry of entries.values()) {
        if (!lanes.has(entry.lane)) continue
        queuedRows -= entry.rows.length
        if (entry.inFlight !== undefined) flying -= 1
        entry.rows = []
        entry.inFlight = undefined
        attention.delete(entry)
        entries.delete(entry.key)
      }
      for (const [id, lane] of known) if (lanes.has(lane)) known.delete(id)
    },
    nextDue: () => {
      let first: number | undefined
      for (const entry of attention) {
        // What is read of it goes first; whoever settles the last of that wakes the reader.
        if (entry.inFlight !== undefined || entry.rows.length > 0) continue
        const due = entry.heldUntil ?? 0
        if (first === undefined || due < first) first = due
      }
      return first
    },
    isKnown: (outboxId) => known.has(outboxId),
    isBehind: (key) => {
      const entry = entries.get(key)
      return entry !== undefined && (entry.heldUntil !== undefined || entry.behind)
    },
    size: () => known.size,
    queued: () => queuedRows,
    inFlight: () => flying,
    sizeOfLanes: (lanes) => {
      let count = 0
      for (const lane of known.values()) if (lanes.has(lane)) count += 1
      return count
    },
  }
}
