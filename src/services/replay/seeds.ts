// Writes replay seeds: on request, and by a slow loop for executions that have grown long. A seed only spares
// time, so nothing here is in a hurry and a failure concerns nobody but the loop.

import { parseJson } from '../../domain/json/parse.js'
import type { JsonObject } from '../../domain/json/value.js'
import { ownsExecution } from '../../domain/shards/topology.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { LruMap } from '../../runtime/lruMap.js'
import { traced } from '../../runtime/tracing.js'
import { listLong, saveSeed } from '../../stores/replay/seedStore.js'
import {
  numberAll,
  outcomeOf,
  placeOf,
  type ReplayDeps,
  type RunOptions,
  running,
  type SeedOutcome,
  timed,
} from './replay.js'

export interface TakenSeed {
  executionId: string
  aggregateId: string
  version: string
  checksum: string
  eventCount: string
  /** Events folded for it; the others were in the seed before. */
  eventsRead: number
  continued: SeedOutcome
  stateBytes: number
  storedBytes: number
  /** False: a newer one was there already. */
  stored: boolean
}

/** As command and route tell it. */
export function takenJson(taken: TakenSeed) {
  return {
    aggregate_id: taken.aggregateId,
    version: taken.version,
    event_count: taken.eventCount,
    events_read: taken.eventsRead,
    checksum: taken.checksum,
    continued: taken.continued,
    state_bytes: taken.stateBytes,
    stored_bytes: taken.storedBytes,
    stored: taken.stored,
  }
}

const TRIES = 3

type SeedLog = { executionId: string; tenantId: string; organizationId: string }
type SeedOptions = RunOptions & { full?: boolean }

export function takeSeed(deps: ReplayDeps, log: SeedLog, options: SeedOptions = {}): Promise<TakenSeed> {
  const attributes = { 'noetl.execution_id': log.executionId, 'noetl.snapshot': 'replay' }
  return traced('noetl.snapshot', { attributes }, async (span) => {
    const taken = await foldAndStore(deps, log, options)
    span.set({ 'noetl.version': taken.version, 'noetl.bytes': taken.storedBytes })
    return taken
  })
}

async function foldAndStore(deps: ReplayDeps, log: SeedLog, options: SeedOptions): Promise<TakenSeed> {
  for (let attempt = 1; ; attempt++) {
    // Foreign rows that arrive in between have no number yet; the next try gives them one.
    await numberAll(deps, log.executionId)
    const seed = await timed(deps, 'seed', () =>
      deps.workers.run(
        'replaySeed',
        { ...placeOf(deps, log.executionId), ...log, fromSnapshot: options.full !== true },
        running(deps, options),
      ),
    )
    if (seed === null) {
      if (attempt < TRIES) continue
      throw new CpError(
        'refused',
        `execution ${log.executionId} has no numbered events of tenant ${log.tenantId}, organisation ${log.organizationId}; nothing to store`,
      )
    }
    deps.onSeed?.(outcomeOf(seed.seed))
    const stored = await saveSeed(deps.databases.of(log.executionId), {
      ...log,
      aggregateId: seed.aggregateId,
      version: seed.version,
      summary: parseJson(seed.summary) as JsonObject,
      checksum: seed.checksum,
      meta: parseJson(seed.meta) as JsonObject,
      bytes: seed.bytes,
    })
    const { aggregateId, version, checksum, eventCount, eventsRead, stateBytes } = seed
    return {
      executionId: log.executionId,
      ...{ aggregateId, version, checksum, eventCount, eventsRead, stateBytes },
      continued: outcomeOf(seed.seed),
      storedBytes: seed.bytes.byteLength,
      stored,
    }
  }
}

export interface SeedLoopDeps extends ReplayDeps {
  clock: Clock
  random: () => number
  /** Events beyond which an execution gets a seed, and a new one after as many again. */
  eventsMin: number
  onTaken(seed: TakenSeed): void
  onError(error: CpError): void
}

const PAGE = 2_000
const IDLE_MS = 5_000
const BEFORE_ALL = '-9223372036854775808'
const TROUBLED_PAUSE_MS = 600_000
const TROUBLED_MAX = 1_000

/** Walks through the executions again and again, a page per pass and shard. */
export function createSeedLoop(deps: SeedLoopDeps): PollLoop {
  const { databases, clock } = deps
  const positions = databases.shards.map(() => BEFORE_ALL)
  const troubledUntil = new LruMap<string, number>({ entriesMax: TROUBLED_MAX })

  async function takeOne(log: { executionId: string; tenantId: string; organizationId: string }, signal: AbortSignal) {
    if ((troubledUntil.get(log.executionId) ?? 0) > clock.monotonic()) return
    try {
      deps.onTaken(await takeSeed(deps, log, { signal }))
      troubledUntil.delete(log.executionId)
    } catch (error) {
      if (signal.aborted) return
      if (isOwnTrouble(error)) throw error
      troubledUntil.set(log.executionId, clock.monotonic() + TROUBLED_PAUSE_MS)
      deps.onError(toCpError(error))
    }
  }

  async function pass(shard: number, signal: AbortSignal): Promise<'busy' | 'idle'> {
    const page = await listLong(databases.shards[shard]!.db, positions[shard]!, PAGE, deps.eventsMin)
    for (const log of page.long) {
      const isDue = log.eventCount - log.seeded >= BigInt(deps.eventsMin)
      if (signal.aborted) return 'idle'
      if (isDue && ownsExecution(databases.topology, log.executionId)) await takeOne(log, signal)
    }
    positions[shard] = page.lastId ?? BEFORE_ALL
    return 'idle'
  }

  return createPollLoop({
    name: 'replay-seeds',
    clock,
    random: deps.random,
    idleMs: IDLE_MS,
    errorMs: 1_000,
    errorMsMax: 60_000,
    onError: deps.onError,
    runOnce: async (signal) => {
      const outcomes = await Promise.allSettled(databases.shards.map((_, shard) => pass(shard, signal)))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      return 'idle'
    },
  })
}
