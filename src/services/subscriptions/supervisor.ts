// Decides which active pull subscriptions this daemon drives. Subscriptions are leased by the clock of the cluster
// database and shared evenly among live daemons.
//
//   free ──take──▶ driven ──paused, drained, beyond the share, stop()──▶ finishing ──nothing held──▶ given back
//                    └── lease not renewed in time ──▶ dropped at once; another daemon takes it over
//
// The lease decides who works; the fences make sure that nobody else's starts are committed.
import type { Db } from '../../db/db.js'
import { fairShare } from '../../domain/leases/share.js'
import { CpError, toCpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  countDrivable,
  type HeldSubscription,
  releaseSubscriptions,
  renewSubscriptions,
  takeSubscriptions,
} from '../../stores/subscriptions/subscriptionRuntimeStore.js'
import { setTrouble } from '../../stores/subscriptions/subscriptionStore.js'
import type { Membership } from '../leases/membership.js'
import { createDriver, type Driver, type DriverDeps } from './driver.js'
import { followSubscription } from './following.js'

export interface SupervisorDeps extends Omit<DriverDeps, 'onTrouble' | 'onRefused'> {
  /** This daemon among those that share the subscriptions. */
  membership: Membership
  leaseMs: number
  onDriven(count: number): void
  /** What keeps a subscription from delivering; null when nothing does any more. */
  onTrouble?(subscriptionId: string, trouble: string | null): void
  onError(error: CpError): void
}

export interface Supervisor extends PollLoop {
  driven(): string[]
}

/** What daemons that drive subscriptions share, in `noetl.member`. */
const SHARE = 'subscriptions'
const BEAT_MS = 1_000
const CALL_DEADLINE_MS = 3_000
const TAKE_MAX = 200

export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const db: Db = deps.databases.cluster.db
  const leaseSeconds = deps.leaseMs / 1000
  const { membership } = deps
  const drivers = new Map<string, Driver>()
  const leaving = new Map<string, Promise<void>>()
  let renewedAt = deps.clock.monotonic()

  const driverDeps: DriverDeps = {
    ...deps,
    onTrouble: (id, trouble) => {
      deps.onTrouble?.(id, trouble)
      setTrouble(db, id, trouble).catch((error: unknown) => deps.onError(toCpError(error)))
    },
    onRefused: (id) => {
      // Its log may say what the row does not know yet, and nobody may have told us.
      followSubscription(deps, id)
        .catch((error: unknown) => deps.onError(toCpError(error)))
        .finally(() => loop.nudge())
    },
  }

  function begin(held: HeldSubscription): void {
    drivers.set(held.subscription_id, createDriver(held, driverDeps))
    deps.onDriven(drivers.size)
  }

  /** In the background: others must not wait for one that is slow to let go. The lease goes last. */
  function letGo(id: string, how: 'finish' | 'return', release: boolean): Promise<void> {
    const known = leaving.get(id)
    if (known !== undefined) return known
    const driver = drivers.get(id)
    drivers.delete(id)
    deps.onDriven(drivers.size)
    const done = (async () => {
      try {
        await driver?.stop(how)
        if (release) await releaseSubscriptions(db, membership.id, [id], CALL_DEADLINE_MS)
      } catch (error) {
        // The lease runs out by itself.
        deps.onError(toCpError(error))
      } finally {
        leaving.delete(id)
        loop.nudge()
      }
    })()
    leaving.set(id, done)
    return done
  }

  function follow(row: HeldSubscription): void {
    const id = row.subscription_id
    if (leaving.has(id)) return
    const driver = drivers.get(id)
    if (row.external) {
      // Another version of the entry gives it to somebody else's runtime.
      void letGo(id, 'finish', true)
    } else if (row.state !== 'ACTIVE' || !row.live) {
      // Our own drain leaves the epoch as it is. Whoever else ended the right has ended it for what is held, too.
      const mayFinish = row.state === 'DRAINING' && driver?.epoch() === row.epoch
      if (mayFinish) driver?.setRight(row)
      void letGo(id, mayFinish ? 'finish' : 'return', true)
    } else if (driver === undefined) {
      begin(row)
    } else if (driver.catalogId !== row.catalog_id) {
      // Another version of the entry: the next pass begins anew with it.
      void letGo(id, 'finish', false)
    } else {
      driver.setRight(row)
    }
  }

  async function pass(): Promise<'busy' | 'idle'> {
    if (drivers.size > 0 && deps.clock.monotonic() - renewedAt > deps.leaseMs) {
      // Somebody else may be at it by now; what we still hold would only be refused.
      for (const id of [...drivers.keys()]) void letGo(id, 'return', false)
    }
    const asked = deps.clock.monotonic()
    const held = await renewSubscriptions(db, membership.id, leaseSeconds, CALL_DEADLINE_MS)
    renewedAt = asked
    const ids = new Set(held.map((row) => row.subscription_id))
    for (const id of [...drivers.keys()]) if (!ids.has(id)) void letGo(id, 'return', false)
    for (const row of held) follow(row)

    const standing = await membership.standing(SHARE, {
      leaseMs: deps.leaseMs,
      describe: () => ({ driven: drivers.size }),
    })
    const share = fairShare(await countDrivable(db, CALL_DEADLINE_MS), standing)
    for (const id of [...drivers.keys()].slice(share)) void letGo(id, 'return', true)
    const room = Math.min(TAKE_MAX, share - drivers.size - leaving.size)
    if (room > 0) {
      for (const row of await takeSubscriptions(db, membership.id, room, leaseSeconds, CALL_DEADLINE_MS)) {
        if (!leaving.has(row.subscription_id)) begin(row)
      }
    }
    return 'idle'
  }

  const loop = createPollLoop({
    name: 'subscription runtime',
    clock: deps.clock,
    random: deps.random,
    idleMs: BEAT_MS,
    errorMs: 500,
    errorMsMax: BEAT_MS * 2,
    onError: deps.onError,
    runOnce: pass,
  })

  return {
    ...loop,
    stop: async (deadlineMs) => {
      await loop.stop(deadlineMs)
      await Promise.all([...drivers.keys()].map((id) => letGo(id, 'return', true)))
      await Promise.all(leaving.values())
      await membership.leave(SHARE).catch((error: unknown) => {
        if (!(error instanceof CpError)) throw error
      })
    },
    driven: () => [...drivers.keys()],
  }
}
