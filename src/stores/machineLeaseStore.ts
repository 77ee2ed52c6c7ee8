// Leases on machine ids, in the cluster database, judged by its clock.
import type { Queryable } from '../db/db.js'
import { queries } from '../db/queries.js'

const q = queries('machine_lease_take', 'machine_lease_renew', 'machine_lease_release', 'machine_lease_holder')

export interface MachineLease {
  machineId: number
  token: string
  highWater: bigint
}

export async function takeMachineLease(
  db: Queryable,
  want: { candidates: readonly number[]; holder: string; ttlSeconds: number },
): Promise<(MachineLease & { databaseNowMs: number }) | 'none free' | 'others were faster'> {
  const [row] = await db.run<{ machine_id: number | null; token: string; high_water: string; now_ms: string }>(
    q.machine_lease_take,
    [want.candidates, want.holder, want.ttlSeconds],
  )
  if (row === undefined) return 'none free'
  if (row.machine_id === null) return 'others were faster'
  return {
    machineId: row.machine_id,
    token: row.token,
    highWater: BigInt(row.high_water),
    databaseNowMs: Number(row.now_ms),
  }
}

export async function renewMachineLease(
  db: Queryable,
  lease: { machineId: number; holder: string; token: string; ttlSeconds: number; highWater: bigint },
  deadlineMs: number,
): Promise<boolean> {
  const rows = await db.run(
    q.machine_lease_renew,
    [lease.machineId, lease.holder, lease.token, lease.ttlSeconds, lease.highWater],
    { deadlineMs },
  )
  return rows.length === 1
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
