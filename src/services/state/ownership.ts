// Which executions this daemon decides for: those of its share whose lane it holds. Each database has lanes of
// its own, so a shard that is down costs only its own lanes.
import type { Databases } from '../../db/databases.js'
import { shardOf } from '../../domain/shards.js'
import { ownsExecution } from '../../domain/topology.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { Service } from '../../runtime/service.js'
import { LANE_COUNT } from '../../stores/laneStore.js'
import { type Fence, prepareStateLanes, stateLaneStore } from '../../stores/stateLaneStore.js'
import { createLaneKeeper, type LaneKeeper } from '../relay/laneKeeper.js'

export interface OwnershipDeps {
  databases: Databases
  clock: Clock
  random: () => number
  /** Unique per boot: a restarted daemon is somebody else. */
  driverId: string
  leaseMs: number
  /** New lanes: their executions are to be looked after. */
  onTaken(shard: number, lanes: readonly number[], orphaned: number): void
  onLost(shard: number, lanes: ReadonlySet<number>): void
  /** Executions of these lanes that are being worked on. */
  busyIn(shard: number, lanes: ReadonlySet<number>): number
  onError(error: CpError): void
}

export interface Ownership extends Service {
  owns(executionId: string): boolean
  /** What a decision must hold while it is written; undefined when the lane is not ours. */
  fenceOf(executionId: string): Fence | undefined
  lanes(shard: number): number
}

const BEAT_MS = 1_000

export function laneOf(executionId: string): number {
  return shardOf(executionId, LANE_COUNT)
}

export function createOwnership(deps: OwnershipDeps): Ownership {
  const { databases, clock, driverId } = deps
  const { topology } = databases
  const share = `${topology.shardIndex}/${topology.shardCount}`
  const stopping = new AbortController()
  const store = stateLaneStore(share)
  const prepared = new Set<number>()
  let running: Promise<unknown> | undefined

  const keepers = databases.shards.map(
    ({ db }, shard): LaneKeeper =>
      createLaneKeeper({
        db,
        relayId: driverId,
        clock,
        leaseMs: deps.leaseMs,
        store,
        share: true,
        onTaken: (lanes) =>
          deps.onTaken(
            shard,
            lanes.map(({ lane }) => lane),
            lanes.filter(({ idleSeconds }) => idleSeconds !== undefined).length,
          ),
        onReadable: (lanes) => deps.onTaken(shard, lanes, 0),
        onLost: (lanes) => deps.onLost(shard, lanes),
        rowsOf: (lanes) => deps.busyIn(shard, lanes),
        published: () => 0n,
      }),
  )

  async function keep(shard: number): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (!prepared.has(shard)) {
          await prepareStateLanes(databases.shards[shard]!.db, share)
          prepared.add(shard)
        }
        await keepers[shard]!.keep()
      } catch (error) {
        deps.onError(toCpError(error))
      }
      await clock.sleep(BEAT_MS * (0.8 + 0.4 * deps.random()), stopping.signal)
    }
  }

  return {
    name: 'state lanes',
    start: async () => {
      running ??= Promise.all(keepers.map((_, shard) => keep(shard)))
    },
    stop: async () => {
      stopping.abort()
      await running
      await Promise.all(keepers.map((keeper) => keeper.giveBack()))
    },
    owns: (executionId) => {
      const keeper = keepers[databases.shardOf(executionId)]!
      if (!ownsExecution(topology, executionId) || !keeper.isSafe()) return false
      return keeper.readable().includes(laneOf(executionId))
    },
    fenceOf: (executionId) => {
      const keeper = keepers[databases.shardOf(executionId)]!
      const lane = laneOf(executionId)
      const held = keeper.lanes().find((row) => row.lane === lane)
      if (held === undefined || !keeper.isSafe() || !ownsExecution(topology, executionId)) return undefined
      return { driverId, share, lane, token: held.token }
    },
    lanes: (shard) => keepers[shard]!.lanes().length,
  }
}
