// Every 30 s, in each shard: removes published rows and dedup records whose time is over, and counts the outbox for the
// metrics. A shard that is away does not delay the others.
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

export interface OutboxUpkeepDeps {
  databases: Databases
  clock: Clock
  random: () => number
  retentionSeconds: number
  onCounts(shard: number, counts: OutboxCounts): void
  onPurged(shard: number, rows: number): void
  onError(error: CpError): void
}

const PASS_MS = 30_000
const ROWS_PER_PASS = 50_000
const DEDUP_PER_PASS = 5_000

export function createOutboxUpkeep(deps: OutboxUpkeepDeps): PollLoop {
  let countedAt = Number.NEGATIVE_INFINITY

  async function keep(db: Db, shard: number, withCounts: boolean, signal: AbortSignal): Promise<boolean> {
    if (withCounts) deps.onCounts(shard, await count(db))
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
      const withCounts = deps.clock.monotonic() - countedAt > PASS_MS / 2
      if (withCounts) countedAt = deps.clock.monotonic()
      const { answers, failures } = await deps.databases.fanOut((db, shard) => keep(db, shard, withCounts, signal))
      if (failures[0] !== undefined) throw toCpError(failures[0].error)
      return answers.some(({ value }) => value) ? 'busy' : 'idle'
    },
  })
}

async function count(db: Db): Promise<OutboxCounts> {
  const [backlog, dead, oldest] = await Promise.all([readBacklog(db), countDead(db), readOldestAge(db)])
  return { ...backlog, dead, oldestAgeSeconds: oldest ?? 0 }
}
