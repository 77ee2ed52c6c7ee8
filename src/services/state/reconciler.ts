// Finds what no trigger told: after a restart, a takeover, a lost hint. It works from the durable set of executions
// that have not ended. Each has a time of its own at which it is looked at again: soon after something happened,
// ever later while nothing does. A look is a row of one query for hundreds; only those that moved are advanced.

import type { Databases } from '../../db/databases.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import { laneOf } from '../../domain/leases/lane.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { jittered } from '../../runtime/jitter.js'
import type { Service } from '../../runtime/service.js'
import { listActive, readHeads } from '../../stores/state/stateStore.js'
import { createDueTimes } from './dueTimes.js'

export interface ReconcilerDeps {
  databases: Databases
  clock: Clock
  random: () => number
  owns(executionId: string): boolean
  trigger(executionId: string): void
  /** Triggers that wait for a thread; nothing is added while they are many. */
  backlog(): number
  onError(error: CpError): void
}

export interface Reconciler extends Service {
  /** A round ended: the state is at this version, or failed. */
  roundEnded(
    executionId: string,
    round: { version: number; terminal: boolean; checkAfterMs?: number | undefined },
  ): void
  failed(executionId: string): void
  /** Look through the active executions of a shard. */
  scan(shard: number): void
  forget(shard: number, lanes: ReadonlySet<number>): void
  tracked(): number
}

interface Tracked {
  /** What the orchestrator has seen; -1 before the first time. */
  version: number
  waitMs: number
  /** To be asked again, whether or not it has moved. */
  isAwaited: boolean
}

const WAIT_MS_MIN = 1_000
const WAIT_MS_MAX = 60_000
const PAGE = 1_000
const RESCAN_MS = 60_000
const TICK_MS = 250
const BACKLOG_MAX = 5_000
const BEFORE_ALL = '-9223372036854775808'

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { databases, clock } = deps
  const shards = databases.shards.map(() => ({
    tracked: new Map<string, Tracked>(),
    due: createDueTimes(),
    scanAt: 0,
  }))
  const stopping = new AbortController()
  let running: Promise<unknown> | undefined
  const placeOf = (executionId: string) => shards[databases.shardOf(executionId)]!

  function schedule(executionId: string, entry: Tracked, waitMs = entry.waitMs): void {
    // A little disorder keeps thousands that started together from coming together for ever.
    placeOf(executionId).due.set(executionId, clock.monotonic() + jittered(waitMs, deps.random))
  }

  async function scanShard(shard: number): Promise<void> {
    const place = shards[shard]!
    const { db } = databases.shards[shard]!
    place.scanAt = clock.monotonic() + RESCAN_MS
    for (let after = BEFORE_ALL; !stopping.signal.aborted; ) {
      const page = await listActive(db, after, PAGE)
      for (const { executionId } of page) {
        if (place.tracked.has(executionId) || !deps.owns(executionId)) continue
        // Whatever its state has seen: a decision may have been refused while its lane was somebody else's.
        const entry = { version: -1, waitMs: WAIT_MS_MIN, isAwaited: true }
        place.tracked.set(executionId, entry)
        place.due.set(executionId, 0)
      }
      if (page.length < PAGE) return
      after = page[page.length - 1]!.executionId
    }
  }

  async function look(shard: number): Promise<number> {
    const place = shards[shard]!
    if (deps.backlog() > BACKLOG_MAX) return 0
    const ids = place.due.take(clock.monotonic(), PAGE)
    if (ids.length === 0) return 0
    let heads: Awaited<ReturnType<typeof readHeads>>
    try {
      heads = await readHeads(databases.shards[shard]!.db, ids)
    } catch (error) {
      for (const id of ids) place.due.set(id, clock.monotonic() + WAIT_MS_MIN)
      throw error
    }
    const byId = new Map(heads.map((head) => [head.executionId, head]))
    for (const id of ids) judge(shard, id, byId.get(id))
    return ids.length
  }

  function judge(shard: number, id: string, head: { version: number; status: string } | undefined): void {
    const place = shards[shard]!
    const entry = place.tracked.get(id)
    if (entry === undefined) return
    if (head === undefined || !deps.owns(id)) {
      place.tracked.delete(id)
      return
    }
    if (isTerminalStatus(head.status)) {
      place.tracked.delete(id)
      deps.trigger(id)
    } else if (entry.version !== head.version || entry.isAwaited) {
      deps.trigger(id)
      entry.isAwaited = false
      // Until its round ends and says better.
      schedule(id, entry, WAIT_MS_MAX)
    } else {
      entry.waitMs = Math.min(WAIT_MS_MAX, entry.waitMs * 2)
      schedule(id, entry)
    }
  }

  async function run(shard: number): Promise<void> {
    const place = shards[shard]!
    while (!stopping.signal.aborted) {
      let found = 0
      try {
        if (clock.monotonic() >= place.scanAt) await scanShard(shard)
        found = await look(shard)
      } catch (error) {
        deps.onError(toCpError(error))
        await clock.sleep(WAIT_MS_MIN, stopping.signal)
      }
      if (found < PAGE) await clock.sleep(TICK_MS, stopping.signal)
    }
  }

  return {
    name: 'state reconciler',
    start: async () => {
      running ??= Promise.all(shards.map((_, shard) => run(shard)))
    },
    stop: async () => {
      stopping.abort()
      await running
    },
    roundEnded: (executionId, { version, terminal, checkAfterMs }) => {
      const place = placeOf(executionId)
      if (terminal) {
        place.tracked.delete(executionId)
        place.due.delete(executionId)
        return
      }
      const known = place.tracked.get(executionId)
      const entry = known ?? { version, waitMs: WAIT_MS_MIN, isAwaited: false }
      if (entry.version !== version) entry.waitMs = WAIT_MS_MIN
      entry.version = version
      entry.isAwaited = checkAfterMs !== undefined
      place.tracked.set(executionId, entry)
      if (checkAfterMs === undefined) schedule(executionId, entry)
      else place.due.set(executionId, clock.monotonic() + checkAfterMs)
    },
    failed: (executionId) => {
      const place = placeOf(executionId)
      const entry = place.tracked.get(executionId) ?? { version: -1, waitMs: WAIT_MS_MIN / 2, isAwaited: true }
      entry.isAwaited = true
      entry.waitMs = Math.min(WAIT_MS_MAX, entry.waitMs * 2)
      place.tracked.set(executionId, entry)
      schedule(executionId, entry)
    },
    scan: (shard) => {
      shards[shard]!.scanAt = 0
    },
    forget: (shard, lanes) => {
      const place = shards[shard]!
      for (const id of place.tracked.keys()) {
        if (!lanes.has(laneOf(id))) continue
        place.tracked.delete(id)
        place.due.delete(id)
      }
    },
    tracked: () => shards.reduce((sum, place) => sum + place.tracked.size, 0),
  }
}
