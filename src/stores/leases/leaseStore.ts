// Leases: numbered slots of some kind (lanes of the outbox, lanes of live states, machine ids), each held by one
// member until a time by the database's clock. The token grows with every change of hands.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'lease_prepare',
  'lease_renew',
  'lease_take',
  'lease_unorphan',
  'lease_release',
  'lease_holder',
  'lease_owners',
  'lease_fence',
)

export interface HeldLease {
  slot: number
  token: string
}

/** By the database's clock, in Unix milliseconds. */
export interface LeaseTimes {
  nowMs: number
  endsMs: number
}

export interface Orphaned {
  /** How long ago the last owner that vanished can have worked. */
  untilSecondsAgo: number
}

export interface TakenLease extends HeldLease, LeaseTimes {
  /** Seconds since the owner that vanished was last alive; undefined when the slot was given back in order. */
  idleSeconds: number | undefined
  /** Undefined when nothing is left of what owners that vanished had worked on. */
  orphaned: Orphaned | undefined
  /** The highest id minted under the slot that the database was told of. */
  highWater: bigint
  /** When the lease before ended; undefined when the slot was never held. */
  endedMs: number | undefined
}

/** A held slot with the highest id minted under it, which outlives the lease. */
export interface MarkedLease extends HeldLease {
  highWater?: bigint | undefined
}

/** Proof of a lease, shown inside the transaction that depends on it. */
export interface Fence extends HeldLease {
  kind: string
  owner: string
}

export interface LeaseCall {
  kind: string
  owner: string
  deadlineMs: number
}

export async function prepareLeases(db: Queryable, kind: string, slots: number): Promise<void> {
  await db.run(q.lease_prepare, [kind, slots])
}

export async function renewLeases(
  db: Queryable,
  { kind, owner, deadlineMs }: LeaseCall,
  held: readonly MarkedLease[],
  leaseSeconds: number,
): Promise<(HeldLease & LeaseTimes)[]> {
  const values = [kind, owner, ...columns(held), marks(held), leaseSeconds]
  const rows = await db.run<HeldLease & TimesRow>(q.lease_renew, values, { deadlineMs })
  return rows.map((row) => ({ slot: row.slot, token: row.token, ...timesOf(row) }))
}

interface TimesRow {
  now_ms: string
  ends_ms: string
}

function timesOf(row: TimesRow): LeaseTimes {
  return { nowMs: Number(row.now_ms), endsMs: Number(row.ends_ms) }
}

interface TakenRow extends HeldLease, TimesRow {
  idle_seconds: number | null
  orphaned_until_seconds: number | null
  high_water: string
  ended_ms: string | null
}

/** Takes up to `limit` of the slots that nobody else holds, the first in the list first. */
export async function takeLeases(
  db: Queryable,
  { kind, owner, deadlineMs }: LeaseCall,
  want: { slots: readonly number[]; limit: number; leaseSeconds: number },
): Promise<TakenLease[]> {
  const rows = await db.run<TakenRow>(q.lease_take, [kind, owner, want.slots, want.limit, want.leaseSeconds], {
    deadlineMs,
  })
  return rows.map((row) => ({
    slot: row.slot,
    token: row.token,
    ...timesOf(row),
    idleSeconds: row.idle_seconds ?? undefined,
    orphaned: row.orphaned_until_seconds === null ? undefined : { untilSecondsAgo: row.orphaned_until_seconds },
    highWater: BigInt(row.high_water),
    endedMs: row.ended_ms === null ? undefined : Number(row.ended_ms),
  }))
}

/** Nothing is left of what owners of these slots who vanished had worked on. */
export async function unorphanLeases(
  db: Queryable,
  { kind, owner, deadlineMs }: LeaseCall,
  held: readonly HeldLease[],
): Promise<void> {
  await db.run(q.lease_unorphan, [kind, owner, ...columns(held)], { deadlineMs })
}

export async function releaseLeases(
  db: Queryable,
  { kind, owner, deadlineMs }: LeaseCall,
  held: readonly MarkedLease[],
): Promise<void> {
  await db.run(q.lease_release, [kind, owner, ...columns(held), marks(held)], { deadlineMs })
}

export async function leaseHolder(db: Queryable, kind: string, slot: number): Promise<string | undefined> {
  return (await db.run<{ owner: string }>(q.lease_holder, [kind, slot]))[0]?.owner
}

export interface LeaseOwner {
  kind: string
  owner: string
  lanes: number
  live: boolean
  slots: number[]
  /** What is left of each of them, in whole seconds. */
  leaseSeconds: number[]
}

/** Everybody who holds a slot of the kinds like this, or held it until its lease ended. */
export async function listLeaseOwners(db: Queryable, kindLike: string): Promise<LeaseOwner[]> {
  const rows = await db.run<Omit<LeaseOwner, 'slots' | 'leaseSeconds'> & { slots: string; lease_seconds: string }>(
    q.lease_owners,
    [kindLike],
  )
  return rows.map(({ slots, lease_seconds: seconds, ...row }) => ({
    ...row,
    slots: slots.split(',').map(Number),
    leaseSeconds: seconds.split(',').map(Number),
  }))
}

/** Which fences stand; nobody can take their slots before the transaction ends. All of one kind and owner. */
export async function holdFences(tx: Tx, fences: readonly Fence[]): Promise<(fence: Fence) => boolean> {
  const first = fences[0]
  if (first === undefined) return () => false
  const { kind, owner } = first
  const mine = fences.filter((fence) => fence.kind === kind && fence.owner === owner)
  const rows = await tx.run<HeldLease>(q.lease_fence, [kind, owner, ...columns(mine)])
  const held = new Set(rows.map((row) => `${row.slot}:${row.token}`))
  return (fence) => mine.includes(fence) && held.has(`${fence.slot}:${fence.token}`)
}

function marks(held: readonly MarkedLease[]): string[] {
  return held.map(({ highWater = 0n }) => highWater.toString())
}

function columns(held: readonly HeldLease[]): [number[], string[]] {
  return [held.map((row) => row.slot), held.map((row) => row.token)]
}
