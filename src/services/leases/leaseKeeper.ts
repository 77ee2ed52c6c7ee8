// Holds leases of one kind for this process: renews them together, takes what is free up to its share, empties and
// gives back what is beyond it, and lets go of all of them when it stops.
//
//   free ──take──▶ held ──beyond the share──▶ leaving ──empty──▶ given back (free)
//                   │ ▲                          │
//                   │ └──── fits the share ──────┘ onStaying
//                   └── not renewed in time, or taken by another ──▶ lost: onLost, everything in memory of it is void
//
// Never: a slot used while `isSafe()` is false; a slot given back while something of it is still in memory.
import type { Db } from '../../db/db.js'
import { fairShare, slotsToLeave, trustedUntil } from '../../domain/leases/share.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import {
  type Fence,
  type HeldLease,
  type LeaseCall,
  type LeaseTimes,
  type MarkedLease,
  releaseLeases,
  renewLeases,
  type TakenLease,
  takeLeases,
} from '../../stores/leases/leaseStore.js'
import type { Membership } from './membership.js'

export interface LeaseKeeperOptions {
  db: Db
  clock: Clock
  kind: string
  /** Slots to choose from, the preferred first. */
  slots: readonly number[]
  owner: string
  leaseMs: number
  /** How many to hold: a fair share among the members, or a number of its own. */
  share: { membership: Membership; describe(): Record<string, unknown> } | number
  onTaken(taken: readonly TakenLease[]): void
  /** Slots that were about to be given back are used again. */
  onStaying?(slots: readonly number[]): void
  onLost(slots: ReadonlySet<number>): void
  /** False for slots that are not to be taken for now. */
  isWanted?(slot: number): boolean
  /** The highest id minted under a slot, kept beside its lease. */
  highWaterOf?(slot: number): bigint
  /** Told with every lease that is taken or renewed, before anything is made of it. */
  onTimes?(times: LeaseTimes, askedMs: number): void
  /** Whether nothing of a slot is in memory, so that it can be given back. */
  isEmpty?(slot: number): boolean
}

export interface LeaseKeeper {
  /** One pass: renew, share, take. Called several times within a lease. */
  runOnce(): Promise<void>
  /** True while the leases are certainly ours. */
  isSafe(): boolean
  held(): HeldLease[]
  /** Slots to begin work for: held and not on their way out. */
  usable(): number[]
  isUsable(slot: number): boolean
  fenceOf(slot: number): Fence | undefined
  giveBack(): Promise<void>
}

const CALL_DEADLINE_MS = 3_000

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { db, clock, kind, owner, leaseMs } = options
  const call: LeaseCall = { kind, owner, deadlineMs: CALL_DEADLINE_MS }
  const held = new Map<number, string>()
  let leaving = new Set<number>()
  let safeUntil = 0

  const heldList = (): HeldLease[] => [...held].map(([slot, token]) => ({ slot, token }))
  const marked = (leases: readonly HeldLease[]): MarkedLease[] =>
    leases.map((lease) => ({ ...lease, highWater: options.highWaterOf?.(lease.slot) }))
  const isSafe = (): boolean => held.size > 0 && clock.monotonic() < safeUntil

  function drop(slots: Iterable<number>): void {
    const lost = new Set(slots)
    if (lost.size === 0) return
    for (const slot of lost) {
      held.delete(slot)
      leaving.delete(slot)
    }
    options.onLost(lost)
  }

  async function renew(): Promise<void> {
    // Too late to be sure: treat them as lost and take them again.
    if (held.size > 0 && clock.monotonic() > safeUntil) drop([...held.keys()])
    if (held.size === 0) return
    const asked = clock.monotonic()
    const renewed = await renewLeases(db, call, marked(heldList()), leaseMs / 1000)
    if (renewed[0] !== undefined) options.onTimes?.(renewed[0], asked)
    const kept = new Set(renewed.map((row) => row.slot))
    drop([...held.keys()].filter((slot) => !kept.has(slot)))
    safeUntil = trustedUntil(asked, leaseMs)
  }

  async function wanted(): Promise<number> {
    if (typeof options.share === 'number') return options.share
    const { membership, describe } = options.share
    return fairShare(options.slots.length, await membership.standing(kind, { leaseMs, describe }))
  }

  async function giveBackBeyond(share: number): Promise<void> {
    const next = slotsToLeave([...held.keys()], leaving, share)
    const staying = [...leaving].filter((slot) => !next.has(slot))
    leaving = next
    if (staying.length > 0) options.onStaying?.(staying)
    const empty = heldList().filter(({ slot }) => leaving.has(slot) && (options.isEmpty?.(slot) ?? true))
    if (empty.length === 0) return
    await releaseLeases(db, call, marked(empty))
    drop(empty.map(({ slot }) => slot))
  }

  async function take(limit: number): Promise<void> {
    if (limit <= 0) return
    const asked = clock.monotonic()
    const slots = options.slots.filter((slot) => !held.has(slot) && (options.isWanted?.(slot) ?? true))
    const taken = await takeLeases(db, call, { slots, limit, leaseSeconds: leaseMs / 1000 })
    if (taken[0] === undefined) return
    options.onTimes?.(taken[0], asked)
    const trusted = trustedUntil(asked, leaseMs)
    safeUntil = held.size === 0 ? trusted : Math.min(safeUntil, trusted)
    for (const row of taken) held.set(row.slot, row.token)
    options.onTaken(taken)
  }

  return {
    runOnce: async () => {
      await renew()
      const share = await wanted()
      await giveBackBeyond(share)
      await take(share - held.size)
    },
    isSafe,
    held: heldList,
    usable: () => [...held.keys()].filter((slot) => !leaving.has(slot)),
    isUsable: (slot) => held.has(slot) && !leaving.has(slot),
    fenceOf: (slot) => {
      const token = held.get(slot)
      return token === undefined || !isSafe() ? undefined : { kind, owner, slot, token }
    },
    giveBack: async () => {
      const mine = marked(heldList())
      drop(mine.map(({ slot }) => slot))
      if (mine.length > 0) await releaseLeases(db, call, mine).catch(ignoreUnavailable)
      if (typeof options.share !== 'number') await options.share.membership.leave(kind).catch(ignoreUnavailable)
    },
  }
}

/** Leases expire by themselves, so a database that is away must not slow a stop down. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof CpError) || (error.code !== 'unavailable' && error.code !== 'timeout')) throw error
}
