// Members: the running processes that share work in one database, each alive until a time by its clock.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { Standing } from '../../domain/leases/share.js'

const q = queries('member_beat', 'member_leave', 'member_live')

export interface MemberInfo {
  /** What this member shares with others: kinds of leases, and `subscriptions`. */
  shares: string[]
  [detail: string]: unknown
}

export interface MemberBeat {
  id: string
  kind: 'daemon' | 'oneShot'
  leaseSeconds: number
  info: MemberInfo
}

/** Answers the member's standing in each of its shares. */
export async function beatMember(db: Queryable, beat: MemberBeat, deadlineMs: number): Promise<Map<string, Standing>> {
  const rows = await db.run<{ share: string; members: number; rank: number }>(
    q.member_beat,
    [beat.id, beat.leaseSeconds, JSON.stringify(beat.info), beat.kind],
    { deadlineMs },
  )
  return new Map(rows.map(({ share, members, rank }) => [share, { members, rank }]))
}

export async function leaveMembers(db: Queryable, id: string, deadlineMs: number): Promise<void> {
  await db.run(q.member_leave, [id], { deadlineMs })
}

export async function liveMembers(db: Queryable): Promise<string[]> {
  return (await db.run<{ id: string }>(q.member_live)).map(({ id }) => id)
}
