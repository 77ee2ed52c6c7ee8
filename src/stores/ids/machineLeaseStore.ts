// Leases on machine ids, in the cluster database, judged by its clock.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('machine_lease_take', 'machine_lease_renew', 'machine_lease_release', 'machine_lease_holder')

export interface MachineLease {
  machineId: number
  token: string
  /** The highest id that may have been minted with it. */
  highWater: bigint
}

/** By the database's clock, in Unix milliseconds. */
export interface LeaseTimes {
  databaseNowMs: number
  endsMs: number
}

export async function takeMachineLease(
  db: Queryable,
  want: { candidates: readonly number[]; holder: string; ttlSeconds: number },
): Promise<(MachineLease & LeaseTimes) | 'none free' | 'others were faster'> {
  const [row] = await db.run<TimesRow & { machine_id: number | null; token: string; high_water: string }>(
    q.machine_lease_take,
    [want.candidates, want.holder, want.ttlSeconds],
  )
  if (row === undefined) return 'none free'
  if (row.machine_id === null) return 'others were faster'
  return {
    machineId: row.machine_id,
    token: row.token,
    highWater: BigInt(row.high_water),
    ...timesOf(row),
  }
}

interface TimesRow {
  now_ms: string
  ends_ms: string
}

function timesOf(row: TimesRow): LeaseTimes {
  return { databaseNowMs: Number(row.now_ms), endsMs: Number(row.ends_ms) }
}

/** Undefined: the lease is lost. */
export async function renewMachineLease(
  db: Queryable,
  lease: { machineId: number; holder: string; token: string; ttlSeconds: number; highWater: bigint },
  deadlineMs: number,
): Promise<LeaseTimes | undefined> {
  const [row] = await db.run<TimesRow>(
    q.machine_lease_renew,
    [lease.machineId, lease.holder, lease.token, lease.ttlSeconds, lease.highWater],
    { deadlineMs },
  )
  return row && timesOf(row)
}

export async function releaseMachineLease(
  db: Queryable,
  lease: { machineId: number; holder: string; token: string; highWater: bigint },
  deadlineMs: number,
): Promise<void> {
  await db.run(q.machine_lease_release, [lease.machineId, lease.holder, lease.token, lease.highWater], { deadlineMs })
}

export async function machineLeaseHolder(db: Queryable, machineId: number): Promise<string | undefined> {
  const [row] = await db.run<{ holder: string }>(q.machine_lease_holder, [machineId])
  return row?.holder
}
