// Lanes of live states and the daemons that share them. Leases are judged by the database clock.
import type { Queryable, Tx } from '../db/db.js'
import { queries } from '../db/queries.js'
import type { HeldLane, LaneStore } from './laneStore.js'

const q = queries(
  'state_lane_prepare',
  'state_lane_renew',
  'state_lane_take',
  'state_lane_release',
  'state_lane_fence',
  'state_driver_beat',
  'state_driver_leave',
  'state_driver_list',
)

/** The lanes of one share of the executions. */
export function stateLaneStore(share: string): LaneStore {
  return {
    renew: (db, driverId, lanes, leaseSeconds, deadlineMs) =>
      db.run<HeldLane>(q.state_lane_renew, [driverId, share, ...columns(lanes), leaseSeconds], { deadlineMs }),
    take: async (db, driverId, limit, leaseSeconds, deadlineMs) => {
      const rows = await db.run<{ lane: number; token: string; idle_seconds: number | null }>(
        q.state_lane_take,
        [driverId, share, limit, leaseSeconds],
        { deadlineMs },
      )
      return rows.map((row) => ({
        lane: row.lane,
        token: row.token,
        idleSeconds: row.idle_seconds ?? undefined,
        head: '0',
      }))
    },
    release: async (db, driverId, lanes, deadlineMs) => {
      await db.run(q.state_lane_release, [driverId, share, ...columns(lanes)], { deadlineMs })
    },
    beat: async (db, { relayId, leaseSeconds, lanes }, deadlineMs) => {
      const [row] = await db.run<{ drivers: number }>(q.state_driver_beat, [relayId, share, leaseSeconds, lanes], {
        deadlineMs,
      })
      return row?.drivers ?? 1
    },
    leave: async (db, driverId, deadlineMs) => {
      await db.run(q.state_driver_leave, [driverId], { deadlineMs })
    },
  }
}

function columns(lanes: readonly HeldLane[]): [number[], string[]] {
  return [lanes.map((row) => row.lane), lanes.map((row) => row.token)]
}

export async function prepareStateLanes(db: Queryable, share: string): Promise<void> {
  await db.run(q.state_lane_prepare, [share])
}

export interface Fence {
  driverId: string
  share: string
  lane: number
  token: string
}

/** Whether a fence stands; nobody can take its lane before the transaction ends. All of one share. */
export async function holdFences(tx: Tx, fences: readonly Fence[]): Promise<(fence: Fence) => boolean> {
  const first = fences[0]
  if (first === undefined) return () => false
  const { driverId, share } = first
  const mine = fences.filter((fence) => fence.driverId === driverId && fence.share === share)
  const rows = await tx.run<HeldLane>(q.state_lane_fence, [driverId, share, ...columns(mine)])
  const held = new Set(rows.map((row) => `${row.lane}:${row.token}`))
  return (fence) => mine.includes(fence) && held.has(`${fence.lane}:${fence.token}`)
}

export interface DriverRow {
  driver_id: string
  share: string
  lanes: number
  started_at: string
  alive: boolean
}

export function listDrivers(db: Queryable): Promise<DriverRow[]> {
  return db.run<DriverRow>(q.state_driver_list)
}
