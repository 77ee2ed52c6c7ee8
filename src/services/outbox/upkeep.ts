// In each shard: every 30 s removes published rows and dedup records whose time is over, and every few seconds counts the outbox
// for the metrics. A shard that is away does not delay the others.
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { purgeDedup } from '../../stores/executions/dedupStore.js'
import { type Backlog, countDead, readBacklog, readOldestAge } from '../../stores/outbox/outboxAdminStore.js'
import { purgeOutbox } from './admin.js'

export interface OutboxCounts extends Backlog {
  dead: number
  oldestAgeSeconds: number
}

interface LoopDeps {
  databases: Databases
  clock: Clock
  random: () => number
  onError(error: CpError): void
}

export interface OutboxUpkeepDeps extends LoopDeps {
  retentionSeconds: number
  onPurged(shard: number, rows: number): void
}

export interface OutboxCounterDeps extends LoopDeps {
  onCounts(shard: number, counts: OutboxCounts): void
}

const PASS_MS = 30_000
const ROWS_PER_PASS = 50_000
const DEDUP_PER_PASS = 5_000
/** Charts take a sample every 5 seconds. */
const COUNT_MS = 3_000
/** As many are counted each time; more of them only once in a while. */
const COUNTED_MAX = 5_000

export function createOutboxUpkeep(deps: OutboxUpkeepDeps): PollLoop {
  async function keep(db: Db, shard: number, signal: AbortSignal): Promise<boolean> {
    const { purged, more } = await purgeOutbox(db, deps.retentionSeconds, { rowsMax: ROWS_PER_PASS, signal })
    if (purged > 0) deps.onPurged(shard, purged)
    const forgotten = await purgeDedup(db, DEDUP_PER_PASS)
    return more || forgotten === DEDUP_PER_PASS
  }

  return createPollLoop({
    name: 'outbox upkeep',
    clock: deps.clock,
    random: deps.random,
    idleMs: PASS_MS,
    errorMs: 1_000,
    errorMsMax: PASS_MS,
    onError: deps.onError,
    runOnce: async (signal) => {
      const { answers, failures } = await deps.databases.fanOut((db, shard) => keep(db, shard, signal))
      if (failures[0] !== undefined) throw toCpError(failures[0].error)
      return answers.some(({ value }) => value) ? 'busy' : 'idle'
    },
  })
}

export function createOutboxCounter({ databases, clock, random, onCounts, onError }: OutboxCounterDeps): PollLoop {
  /** By shard: of a long outbox, what was counted of all of it, and when. */
  const whole = new Map<number, { at: number; backlog: Backlog; dead: number }>()

  async function count(db: Db, shard: number): Promise<OutboxCounts> {
    const [backlog, dead, oldest] = await Promise.all([
      readBacklog(db, COUNTED_MAX),
      countDead(db, COUNTED_MAX),
      readOldestAge(db),
    ])
    const oldestAgeSeconds = oldest ?? 0
    if (!backlog.capped && dead < COUNTED_MAX) return { ...backlog, dead, oldestAgeSeconds }
    let known = whole.get(shard)
    if (known === undefined || clock.monotonic() - known.at > PASS_MS) {
      const [all, allDead] = await Promise.all([readBacklog(db), countDead(db)])
      known = { at: clock.monotonic(), backlog: all, dead: allDead }
      whole.set(shard, known)
    }
    return {
      ...(backlog.capped ? known.backlog : backlog),
      dead: dead < COUNTED_MAX ? dead : known.dead,
      oldestAgeSeconds,
    }
  }

  return createPollLoop({
    name: 'outbox counter',
    clock,
    random,
    idleMs: COUNT_MS,
    errorMs: 1_000,
    errorMsMax: PASS_MS,
    onError,
    runOnce: async () => {
      const { failures } = await databases.fanOut(async (db, shard) => onCounts(shard, await count(db, shard)))
      if (failures[0] !== undefined) throw toCpError(failures[0].error)
      return 'idle'
    },
  })
}
