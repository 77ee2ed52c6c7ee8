// Mints ids under a leased machine id: two live processes never mint with the same one. The database clock
// decides who holds the lease; our own clock only makes us stop minting earlier.
import { randomBytes } from 'node:crypto'
import type { Db } from '../db/db.js'
import {
  createIdGenerator,
  type IdGenerator,
  type IdGeneratorCounters,
  OBSERVE_AHEAD_MAX_MS,
} from '../domain/idGenerator.js'
import {
  DAEMON_MACHINE_ID_MAX,
  MACHINE_ID_MAX,
  ONE_SHOT_MACHINE_ID_MIN,
  type ProposedMachineId,
} from '../domain/machineId.js'
import { shardOf } from '../domain/shards.js'
import { decomposeSnowflake } from '../domain/snowflake.js'
import { CpError, type ErrorCode } from '../errors.js'
import type { Clock } from '../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../runtime/loop.js'
import {
  type MachineLease,
  machineLeaseHolder,
  releaseMachineLease,
  renewMachineLease,
  takeMachineLease,
} from '../stores/machineLeaseStore.js'

export interface Ids extends PollLoop {
  next(): string
  nextMany(count: number): string[]
  /** An id whose rows live in the given one of `count` databases. */
  nextInShard(shard: number, count: number): string
  machineId(): number | undefined
  counters(): IdGeneratorCounters | undefined
}

export interface IdsDeps {
  /** The cluster database. */
  db: Db
  clock: Clock
  random: () => number
  hostName: string
  onError(code: ErrorCode, message: string): void
}

export interface IdsOptions {
  proposed: ProposedMachineId
  /** One-shot commands lease from a range of their own, so that they never take a daemon's id. */
  use: 'daemon' | 'oneShot'
}

const TTL_SECONDS = 30
const RENEW_MS = 5_000
const CALL_DEADLINE_MS = 4_000
// We stop before the database would let somebody else in.
const SAFETY_MS = 5_000
// Whoever was faster holds one of the ids now, so more lost races than there are ids cannot be.
const TAKE_TRIES = MACHINE_ID_MAX + 1

export function createIds(options: IdsOptions, deps: IdsDeps): Ids {
  const { clock, db } = deps
  const holder = `${deps.hostName}:${process.pid}:${randomBytes(4).toString('hex')}`
  let lease: MachineLease | undefined
  let generator: IdGenerator | undefined
  let mayMintUntil = 0

  async function take(): Promise<void> {
    const wanted = new Set(candidates())
    for (let tries = 0; tries < TAKE_TRIES; tries++) {
      const asked = clock.monotonic()
      const taken = await takeMachineLease(db, { candidates: [...wanted], holder, ttlSeconds: TTL_SECONDS })
      if (taken === 'none free') break
      if (taken === 'others were faster') continue
      const fresh = createIdGenerator({ machineId: taken.machineId, now: clock.now, mayMint: assertHeld })
      if (!fresh.observe(taken.highWater)) {
        await giveBack({ ...taken, holder }, CALL_DEADLINE_MS)
        const reason = behindError(taken)
        if (reason !== undefined) throw reason
        wanted.delete(taken.machineId)
        continue
      }
      lease = taken
      mayMintUntil = asked + TTL_SECONDS * 1000 - SAFETY_MS
      generator = fresh
      return
    }
    throw await nobodyFree()
  }

  /**
   * Ids of this machine id lie so far ahead of our clock that they cannot be followed. By the database's clock we
   * know whether ours is behind, or whether an earlier holder ran ahead and another machine id will do.
   */
  function behindError(taken: { machineId: number; highWater: bigint; databaseNowMs: number }): CpError | undefined {
    const highMs = decomposeSnowflake(taken.highWater).unixMs
    const clockIsBehind = highMs <= taken.databaseNowMs + OBSERVE_AHEAD_MAX_MS
    if (!clockIsBehind && !(options.proposed.explicit && options.use === 'daemon')) return undefined
    const seconds = Math.ceil((highMs - clock.now()) / 1000)
    return new CpError(
      'unavailable',
      `no ids: the system clock is ${seconds} s behind the last id of machine id ${taken.machineId}; ` +
        (clockIsBehind ? 'correct the clock' : 'its last holder had a clock that ran ahead: choose another machine id'),
      { details: { behind_seconds: seconds } },
    )
  }

  function giveBack(held: MachineLease & { holder: string }, deadlineMs: number): Promise<void> {
    // It expires by itself if this fails.
    return releaseMachineLease(db, held, deadlineMs).catch(() => undefined)
  }

  function candidates(): number[] {
    const { machineId, explicit } = options.proposed
    // A setting meant for the daemon is no reason for a command beside it to fail.
    if (explicit && options.use === 'daemon') return [machineId]
    const [from, to] = options.use === 'daemon' ? [0, DAEMON_MACHINE_ID_MAX] : [ONE_SHOT_MACHINE_ID_MIN, MACHINE_ID_MAX]
    const size = to - from + 1
    const first = options.use === 'daemon' ? machineId % size : Math.floor(deps.random() * size)
    return Array.from({ length: size }, (_, step) => from + ((first + step) % size))
  }

  async function nobodyFree(): Promise<CpError> {
    if (!options.proposed.explicit || options.use === 'oneShot')
      return new CpError('unavailable', 'every machine id is leased; stop a daemon, or wait 30 s')
    const { machineId } = options.proposed
    const other = await machineLeaseHolder(db, machineId)
    return new CpError(
      'refused',
      `machine id ${machineId} (NOETL_SERVER_MACHINE_ID) is held by ${other ?? 'another process'}; choose another, stop that process, or wait ${TTL_SECONDS} s if it has died`,
    )
  }

  function assertHeld(): void {
    if (clock.monotonic() < mayMintUntil) return
    throw new CpError(
      'unavailable',
      `no ids: the lease of machine id ${lease?.machineId} could not be renewed; is the cluster database reachable?`,
      {
        details: { retryAfterSeconds: 1 },
      },
    )
  }

  async function renew(): Promise<'idle'> {
    if (lease === undefined || generator === undefined) {
      await take()
      return 'idle'
    }
    const asked = clock.monotonic()
    const highWater = generator.highWater()
    const held = await renewMachineLease(db, { ...lease, holder, ttlSeconds: TTL_SECONDS, highWater }, CALL_DEADLINE_MS)
    if (held) {
      mayMintUntil = asked + TTL_SECONDS * 1000 - SAFETY_MS
      return 'idle'
    }
    mayMintUntil = 0
    lease = undefined
    deps.onError('lost_claim', `lost machine id ${generator.machineId}`)
    await take()
    return 'idle'
  }

  function current(): IdGenerator {
    if (generator === undefined)
      throw new CpError('unavailable', 'no ids: there is no machine id yet; is the cluster database reachable?')
    return generator
  }

  const loop = createPollLoop({
    name: 'ids',
    clock,
    random: deps.random,
    idleMs: RENEW_MS,
    errorMs: 500,
    errorMsMax: RENEW_MS,
    onError: (error) => deps.onError(error.code, error.message),
    runOnce: renew,
  })

  return {
    ...loop,
    start: async () => {
      await take()
      await loop.start()
    },
    stop: async (deadlineMs) => {
      await loop.stop(deadlineMs)
      if (lease === undefined || generator === undefined) return
      const released = { ...lease, holder, highWater: generator.highWater() }
      lease = undefined
      mayMintUntil = 0
      await giveBack(released, Math.min(deadlineMs, CALL_DEADLINE_MS))
    },
    next: () => current().nextOne(),
    nextMany: (count) => current().next(count),
    nextInShard: (shard, count) => {
      for (;;) {
        const id = current().nextOne()
        if (shardOf(id, count) === shard) return id
      }
    },
    machineId: () => lease?.machineId,
    counters: () => generator?.counters(),
  }
}
