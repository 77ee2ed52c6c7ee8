// Which lanes of one shard this relay, or driver of live states, owns. Lanes are leases by the database clock:
// renewed together, taken over when their owner has vanished, shared evenly among live relays, given back at
// once when we stop. Our own clock is only used to stop earlier than the database would.
import type { Db } from '../../../db/db.js'
import { CpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import {
  type HeldLane,
  LANE_COUNT,
  type LaneStore,
  outboxLaneStore,
  type TakenLane,
} from '../../../stores/outbox/laneStore.js'

export interface LaneKeeperOptions {
  db: Db
  relayId: string
  clock: Clock
  leaseMs: number
  /** Which lanes; those of the outbox without it. */
  store?: LaneStore
  /** A one-shot drain takes what is free and asks nobody to share. */
  share: boolean
  onTaken(lanes: readonly TakenLane[]): void
  /** Lanes that were about to be given back are to be read again. */
  onReadable(lanes: readonly number[]): void
  /** Lost to somebody else, or to time: whatever is held of them is void. */
  onLost(lanes: ReadonlySet<number>): void
  /** Rows still in memory of these lanes; they are only given back when it is 0. */
  rowsOf(lanes: ReadonlySet<number>): number
  published(): bigint
}

export interface LaneKeeper {
  /** Renews, takes and gives back. Called about every second. */
  keep(): Promise<void>
  /** True while the leases are certainly ours. */
  isSafe(): boolean
  lanes(): HeldLane[]
  /** Lanes to read new rows for: those owned and not about to be given back. */
  readable(): number[]
  giveBack(): Promise<void>
}

const CALL_DEADLINE_MS = 3_000
// Between our last look at the clock and the database's verdict; never so much that a short lease has no life.
const SAFETY_MS_MAX = 2_000
const SAFETY_SHARE = 0.25

export function createLaneKeeper(options: LaneKeeperOptions): LaneKeeper {
  const { db, relayId, clock } = options
  const store = options.store ?? outboxLaneStore
  const leaseSeconds = options.leaseMs / 1000
  const trustedMs = options.leaseMs - Math.min(SAFETY_MS_MAX, options.leaseMs * SAFETY_SHARE)
  const held = new Map<number, string>()
  const leaving = new Set<number>()
  let safeUntil = 0

  const heldList = (): HeldLane[] => [...held].map(([lane, token]) => ({ lane, token }))

  function drop(lanes: Iterable<number>): void {
    const lost = new Set(lanes)
    if (lost.size === 0) return
    for (const lane of lost) {
      held.delete(lane)
      leaving.delete(lane)
    }
    options.onLost(lost)
  }

  async function renew(): Promise<void> {
    if (held.size === 0) {
      safeUntil = 0
      return
    }
    const asked = clock.monotonic()
    const still = await store.renew(db, relayId, heldList(), leaseSeconds, CALL_DEADLINE_MS)
    const kept = new Set(still.map((row) => row.lane))
    drop([...held.keys()].filter((lane) => !kept.has(lane)))
    safeUntil = asked + trustedMs
  }

  async function take(limit: number): Promise<void> {
    if (limit <= 0) return
    const asked = clock.monotonic()
    const taken = await store.take(db, relayId, limit, leaseSeconds, CALL_DEADLINE_MS)
    if (taken.length === 0) return
    const fresh = asked + trustedMs
    safeUntil = held.size === 0 ? fresh : Math.min(safeUntil, fresh)
    for (const row of taken) held.set(row.lane, row.token)
    options.onTaken(taken)
  }

  async function shareOut(target: number): Promise<void> {
    // More than our share: stop reading some lanes, and give each back once nothing of it is in memory.
    const staying = [...held.keys()].filter((lane) => !leaving.has(lane))
    for (const lane of staying.slice(target)) leaving.add(lane)
    if (held.size <= target && leaving.size > 0) {
      // They stay after all. Their rows were passed over meanwhile and must be read from the start.
      options.onReadable([...leaving])
      leaving.clear()
    }
    const ready = heldList().filter(({ lane }) => leaving.has(lane) && options.rowsOf(new Set([lane])) === 0)
    if (ready.length === 0) return
    await store.release(db, relayId, ready, CALL_DEADLINE_MS)
    drop(ready.map(({ lane }) => lane))
  }

  return {
    keep: async () => {
      if (held.size > 0 && clock.monotonic() > safeUntil) {
        // Too late to know: behave as if they were lost, and ask for them again.
        drop([...held.keys()])
      }
      await renew()
      let target = LANE_COUNT
      if (options.share) {
        const relays = await store.beat(
          db,
          { relayId, leaseSeconds, lanes: held.size, published: options.published() },
          CALL_DEADLINE_MS,
        )
        target = Math.ceil(LANE_COUNT / relays)
        await shareOut(target)
      }
      await take(target - held.size)
    },
    isSafe: () => held.size > 0 && clock.monotonic() < safeUntil,
    lanes: heldList,
    readable: () => [...held.keys()].filter((lane) => !leaving.has(lane)),
    giveBack: async () => {
      const mine = heldList()
      drop(mine.map(({ lane }) => lane))
      if (mine.length > 0) await store.release(db, relayId, mine, CALL_DEADLINE_MS).catch(ignoreUnavailable)
      if (options.share) await store.leave(db, relayId, CALL_DEADLINE_MS).catch(ignoreUnavailable)
    },
  }
}

/** The leases run out by themselves; a database that is away is no reason to stop slowly. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof CpError) || (error.code !== 'unavailable' && error.code !== 'timeout')) throw error
}
