// Lanes of the outbox and the relays that share them. Leases are judged by the database clock.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('lane_renew', 'lane_take', 'lane_release', 'relay_beat', 'relay_leave', 'relay_list')

/** Executions are spread over so many lanes; the schema and the queries know the same number. */
export const LANE_COUNT = 64

export interface HeldLane {
  lane: number
  token: string
}

export interface TakenLane extends HeldLane {
  /** Seconds since its vanished owner was last alive; undefined when it was given back in order. */
  idleSeconds: number | undefined
  /** The newest outbox row at that moment. */
  head: string
}

/** Lanes of some kind, for the keeper that holds them. */
export interface LaneStore {
  renew(
    db: Queryable,
    ownerId: string,
    lanes: readonly HeldLane[],
    leaseSeconds: number,
    deadlineMs: number,
  ): Promise<HeldLane[]>
  take(db: Queryable, ownerId: string, limit: number, leaseSeconds: number, deadlineMs: number): Promise<TakenLane[]>
  release(db: Queryable, ownerId: string, lanes: readonly HeldLane[], deadlineMs: number): Promise<void>
  /** Answers how many owners are alive, this one included. */
  beat(
    db: Queryable,
    owner: { relayId: string; leaseSeconds: number; lanes: number; published: bigint },
    deadlineMs: number,
  ): Promise<number>
  leave(db: Queryable, ownerId: string, deadlineMs: number): Promise<void>
}

export async function renewLanes(
  db: Queryable,
  relayId: string,
  lanes: readonly HeldLane[],
  leaseSeconds: number,
  deadlineMs: number,
): Promise<HeldLane[]> {
  const rows = await db.run<HeldLane>(
    q.lane_renew,
    [relayId, lanes.map((row) => row.lane), lanes.map((row) => row.token), leaseSeconds],
    {
      deadlineMs,
    },
  )
  return rows.map((row) => ({ lane: row.lane, token: row.token }))
}

export async function takeLanes(
  db: Queryable,
  relayId: string,
  limit: number,
  leaseSeconds: number,
  deadlineMs: number,
): Promise<TakenLane[]> {
  const rows = await db.run<{ lane: number; token: string; idle_seconds: number | null; head: string | null }>(
    q.lane_take,
    [relayId, limit, leaseSeconds],
    {
      deadlineMs,
    },
  )
  return rows.map((row) => ({
    lane: row.lane,
    token: row.token,
    idleSeconds: row.idle_seconds ?? undefined,
    head: row.head ?? '0',
  }))
}

export async function releaseLanes(
  db: Queryable,
  relayId: string,
  lanes: readonly HeldLane[],
  deadlineMs: number,
): Promise<void> {
  await db.run(q.lane_release, [relayId, lanes.map((row) => row.lane), lanes.map((row) => row.token)], { deadlineMs })
}

/** Answers how many relays are alive, this one included. */
export async function beatRelay(
  db: Queryable,
  relay: { relayId: string; leaseSeconds: number; lanes: number; published: bigint },
  deadlineMs: number,
): Promise<number> {
  const [row] = await db.run<{ relays: number }>(
    q.relay_beat,
    [relay.relayId, relay.leaseSeconds, relay.lanes, relay.published],
    { deadlineMs },
  )
  return row?.relays ?? 1
}

export async function leaveRelay(db: Queryable, relayId: string, deadlineMs: number): Promise<void> {
  await db.run(q.relay_leave, [relayId], { deadlineMs })
}

export const outboxLaneStore: LaneStore = {
  renew: renewLanes,
  take: takeLanes,
  release: releaseLanes,
  beat: beatRelay,
  leave: leaveRelay,
}

export interface RelayRow {
  relay_id: string
  lanes: number
  published: string
  started_at: string
  alive: boolean
}

export function listRelays(db: Queryable): Promise<RelayRow[]> {
  return db.run<RelayRow>(q.relay_list)
}
