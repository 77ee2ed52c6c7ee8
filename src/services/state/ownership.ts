// Which executions this daemon decides for: those of its share whose lane it holds. Each database has leases of
// its own, so a shard that is down costs only its own lanes.

import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import { ENGINE_VERSION } from '../../domain/engine/settings.js'
import { LANE_COUNT, LANES, laneOf } from '../../domain/leases/lane.js'
import { ownsExecution } from '../../domain/shards/topology.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { jittered } from '../../runtime/jitter.js'
import type { Service } from '../../runtime/service.js'
import { type Fence, type LeaseOwner, listLeaseOwners, prepareLeases } from '../../stores/leases/leaseStore.js'
import { createLeaseKeeper, type LeaseKeeper } from '../leases/leaseKeeper.js'
import type { Membership } from '../leases/membership.js'

export interface OwnershipDeps {
  databases: Databases
  clock: Clock
  random: () => number
  membershipOf(db: Db): Membership
  leaseMs: number
  /** New lanes: their executions are to be looked after. `orphaned` of them had an owner that vanished. */
  onTaken(shard: number, lanes: readonly number[], orphaned: number): void
  onLost(shard: number, lanes: ReadonlySet<number>): void
  /** Executions of a lane that are being worked on. */
  busyIn(shard: number, lane: number): number
  onError(error: CpError): void
}

export interface Ownership extends Service {
  owns(executionId: string): boolean
  /** What a decision must hold while it is written; undefined when the lane is not ours. */
  fenceOf(executionId: string): Fence | undefined
  lanes(shard: number): number
}

const BEAT_MS = 1_000
/** Kinds of leases of live states begin with it. */
const STATE = 'state '

/**
 * The lease kind of the lanes that a group of daemons was given: `<index>/<count>`. Daemons of another version of the engine have
 * lanes of their own: during an upgrade each drives the executions of its version, in all lanes.
 */
export function stateLeaseKind(share: string, engine = ENGINE_VERSION): string {
  return engine === 1 ? STATE + share : `${STATE}${share} v${engine}`
}

export interface Driver extends Omit<LeaseOwner, 'kind'> {
  shard: number
  /** Which part of the executions, and for which version of the engine: `0/1`, `0/1 v2`. */
  share: string
}

/** Who drives the live states of which lanes. Throws when no shard answers. */
export async function listDrivers(databases: Databases): Promise<Driver[]> {
  const { answers, failures } = await databases.fanOut((db) => listLeaseOwners(db, `${STATE}%`))
  if (answers.length === 0 && failures[0] !== undefined) throw failures[0].error
  return answers.flatMap(({ shard, value }) =>
    value.map(({ kind, ...owner }) => ({ shard, share: kind.slice(STATE.length), ...owner })),
  )
}

export function createOwnership(deps: OwnershipDeps): Ownership {
  const { databases, clock } = deps
  const { topology } = databases
  const kind = stateLeaseKind(`${topology.shardIndex}/${topology.shardCount}`)
  const stopping = new AbortController()
  const prepared = new Set<number>()
  let running: Promise<unknown> | undefined

  const keepers = databases.shards.map(({ db }, shard): LeaseKeeper => {
    const membership = deps.membershipOf(db)
    const keeper = createLeaseKeeper({
      db,
      clock,
      kind,
      slots: LANES,
      owner: membership.id,
      leaseMs: deps.leaseMs,
      share: { membership, describe: () => ({ lanes: keeper.held().length }) },
      onTaken: (taken) =>
        deps.onTaken(
          shard,
          taken.map(({ slot }) => slot),
          taken.filter(({ idleSeconds }) => idleSeconds !== undefined).length,
        ),
      onStaying: (lanes) => deps.onTaken(shard, lanes, 0),
      onLost: (lanes) => deps.onLost(shard, lanes),
      isEmpty: (lane) => deps.busyIn(shard, lane) === 0,
    })
    return keeper
  })

  async function keep(shard: number): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (!prepared.has(shard)) {
          await prepareLeases(databases.shards[shard]!.db, kind, LANE_COUNT)
          prepared.add(shard)
        }
        await keepers[shard]!.runOnce()
      } catch (error) {
        deps.onError(toCpError(error))
      }
      await clock.sleep(jittered(BEAT_MS, deps.random), stopping.signal)
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
      return keeper.isUsable(laneOf(executionId))
    },
    fenceOf: (executionId) =>
      ownsExecution(topology, executionId)
        ? keepers[databases.shardOf(executionId)]!.fenceOf(laneOf(executionId))
        : undefined,
    lanes: (shard) => keepers[shard]!.held().length,
  }
}
