// This process as a member of one database: one name, one lease, and its standing in everything it shares with other
// processes (lanes of the outbox, lanes of live states, subscriptions). A beat is made when somebody asks for a
// standing and the last one is older than a fifth of the lease; all who ask meanwhile wait for the same beat.
import type { Db } from '../../db/db.js'
import type { Standing } from '../../domain/leases/share.js'
import type { Clock } from '../../runtime/clock.js'
import { beatMember, leaveMembers } from '../../stores/leases/memberStore.js'

export interface MembershipOptions {
  db: Db
  clock: Clock
  /** Unique per boot: a restarted process is another member. */
  id: string
  kind: 'daemon' | 'oneShot'
}

export interface Share {
  leaseMs: number
  /** What others see of it in `noetl.member`. */
  describe(): Record<string, unknown>
}

export interface Membership {
  readonly id: string
  /** The place among the live members that share `name`; the call makes this process one of them. */
  standing(name: string, share: Share): Promise<Standing>
  /** This process shares `name` no longer; others notice within a beat. */
  leave(name: string): Promise<void>
}

const BEATS_PER_LEASE = 5
const BEAT_MS_MAX = 1_000
const CALL_DEADLINE_MS = 3_000

export function createMembership({ db, clock, id, kind }: MembershipOptions): Membership {
  const shares = new Map<string, Share>()
  let known = new Map<string, Standing>()
  let beatAt = Number.NEGATIVE_INFINITY
  let beating: Promise<void> | undefined

  async function beat(): Promise<void> {
    const leaseMs = Math.min(...[...shares.values()].map((share) => share.leaseMs))
    const details = Object.fromEntries([...shares].map(([name, share]) => [name, share.describe()]))
    const info = { ...details, shares: [...shares.keys()] }
    const asked = clock.monotonic()
    known = await beatMember(db, { id, kind, leaseSeconds: leaseMs / 1000, info }, CALL_DEADLINE_MS)
    beatAt = asked
  }

  function beatOnce(): Promise<void> {
    beating ??= beat().finally(() => {
      beating = undefined
    })
    return beating
  }

  return {
    id,
    standing: async (name, share) => {
      shares.set(name, share)
      // A beat under way may have left before this share was added: then a second one follows.
      for (let beats = 0; beats < 2; beats++) {
        const isFresh = clock.monotonic() - beatAt < Math.min(BEAT_MS_MAX, share.leaseMs / BEATS_PER_LEASE)
        const standing = known.get(name)
        if (isFresh && standing !== undefined) return standing
        await beatOnce()
      }
      return known.get(name) ?? { members: 1, rank: 0 }
    },
    leave: async (name) => {
      if (!shares.delete(name)) return
      known.delete(name)
      if (shares.size === 0) await leaveMembers(db, id, CALL_DEADLINE_MS)
      else await beat()
    },
  }
}
