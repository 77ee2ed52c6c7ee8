// The relay of one shard: publishes outbox rows of the lanes it holds to JetStream and marks them as published.
//
// Two loops run side by side:
//
//   keepLanes, every fifth of a lease and at least once a second:
//
//     holding ──NATS away for 10 s──▶ lanes given back ──NATS is back──▶ holding
//        └──lease lost──▶ rows of the lane are dropped from memory; another relay publishes them
//
//   readRows, as one pipeline without an open transaction:
//
//     reader ──offer──▶ queues ──next──▶ courier ──stored──▶ settler ──▶ row is PUBLISHED
//       ▲                 ▲                 ├─ no answer ──▶ back to the front of its queue, sent again
//       │                 └─────────────────┤
//       │                                   ├─ refused ──▶ row is FAILED, its execution waits (or DEAD)
//       │                                   └─ broker away ──▶ everything pauses for 0.25 to 5 s
//       └── nudged by a NOTIFY, a poll, or an execution whose wait is over
//
// stop(): reads nothing more, waits for acknowledgements until 0.5 s before the deadline, writes the marks, gives the
// lanes back. See docs/decisions/0002.

import type { Bus } from '../../../bus/connect.js'
import type { Publisher } from '../../../bus/publisher.js'
import type { StreamLimits } from '../../../bus/streams.js'
import type { Db } from '../../../db/db.js'
import { LANE_COUNT, LANES } from '../../../domain/leases/lane.js'
import { toCpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import { jittered } from '../../../runtime/jitter.js'
import type { Service } from '../../../runtime/service.js'
import { type HeldLease, type Orphaned, type TakenLease, unorphanLeases } from '../../../stores/leases/leaseStore.js'
import { newestUnsettled, type OutboxRow, outboxReads } from '../../../stores/outbox/outboxStore.js'
import { createLeaseKeeper } from '../../leases/leaseKeeper.js'
import type { Membership } from '../../leases/membership.js'
import { createCourier } from './courier.js'
import { createExecutionQueues } from './executionQueues.js'
import type { Found } from './findStored.js'
import type { MessageSettings } from './message.js'
import { createReader, type Reader } from './reader.js'
import type { RelayHooks, RelayLimits } from './relayLimits.js'
import { type Allowance, limitQueues } from './rowAllowance.js'
import { createSettler } from './settler.js'

export interface RelayDeps {
  db: Db
  bus: Bus
  publisher: Publisher
  clock: Clock
  random: () => number
  membership: Membership
  message: MessageSettings
  /** As the stream was when it was last looked at. */
  stream(): StreamLimits
  /** Whether a row that was sent long ago and got no answer is in the stream. */
  findStored(row: OutboxRow): Promise<Found>
  hooks: RelayHooks
}

export interface RelayStats {
  lanes: number
  queued: number
  inFlight: number
  published: bigint
  paused: string | undefined
}

export interface Relay extends Service {
  nudge(): void
  stats(): RelayStats
}

// Several beats fit into the shortest lease.
const LANE_BEAT_MS_MAX = 1_000
const LANE_BEATS_PER_LEASE = 5
// Longer than a restart of the broker; after that somebody else may publish over HTTP.
const DISCONNECTED_MS_MAX = 10_000
const SETTLE_MS = 2_000
// Rows of this process wake the reader, those of others seldom come alone.
const LOOK_AGAIN_MS = 50

const LEASE_KIND = 'outbox'
const HIGHEST_ID = '9223372036854775807'
const BELOW_ALL = '0'

export interface RelayOptions {
  /** Ask other relays for a fair part of the lanes, instead of only taking free ones. */
  share: boolean
  allowance?: Allowance | undefined
}

export function createRelay(deps: RelayDeps, limits: RelayLimits, options: RelayOptions): Relay {
  const { clock, db, publisher, hooks } = deps
  const { allowance } = options
  const queues = allowance === undefined ? createExecutionQueues() : limitQueues(createExecutionQueues(), allowance)
  const stopping = new AbortController()
  let wake: (() => void) | undefined
  let running: Promise<unknown> | undefined
  let lastConnectedAt = clock.monotonic()
  /** Lanes of which it is not known yet up to where their owner before can have published. */
  const unbounded = new Map<number, HeldLease & Orphaned>()
  let isBounding = false

  const nudge = (): void => wake?.()

  const { membership } = deps
  const lanes = createLeaseKeeper({
    db,
    clock,
    kind: LEASE_KIND,
    slots: LANES,
    owner: membership.id,
    leaseMs: limits.leaseMs,
    share: options.share ? { membership, describe } : LANE_COUNT,
    onTaken,
    onStaying: (lanes) => reader.restart(lanes),
    onLost: (lost) => {
      for (const lane of lost) unbounded.delete(lane)
      queues.dropLanes(lost)
      courier.forgetLanes(lost)
    },
    isEmpty: (lane) => queues.sizeOfLanes(new Set([lane])) === 0,
  })
  const settler = createSettler({
    db,
    clock,
    fences: (wanted) =>
      lanes
        .held()
        .filter(({ slot }) => wanted.has(slot))
        .map((held) => ({ ...held, kind: LEASE_KIND, owner: membership.id })),
    onSettled: (ids) => {
      queues.settled(ids)
      reader.forgetDuringRead(ids)
      if (reader.hasMore() && queues.size() < limits.bufferMax / 2) nudge()
    },
    onFenced: hooks.onFenced,
    onError: hooks.onError,
  })
  const reader = createReader({
    table: outboxReads(db),
    clock,
    queues,
    lanes,
    limits,
    onUnanswered: (row, since) => courier.unanswered(row, since),
  })
  const courier = createCourier({
    ...deps,
    queues,
    settler,
    limits,
    mayPublish: () => !stopping.signal.aborted && lanes.isSafe(),
    onHungry: () => {
      if (reader.hasMore()) nudge()
    },
    signal: stopping.signal,
  })

  function describe(): Record<string, unknown> {
    return { lanes: lanes.held().length, published: String(courier.published()) }
  }

  function onTaken(taken: readonly TakenLease[]): void {
    const vanished = taken.filter((row) => row.idleSeconds !== undefined)
    if (vanished.length > 0) hooks.onTakenOver(vanished.length)
    const orphaned = taken.flatMap((row) => (row.orphaned === undefined ? [] : { ...row, ...row.orphaned }))
    for (const lane of orphaned) {
      // Until the newest of them is known, every row is suspect.
      courier.suspect(lane.slot, HIGHEST_ID)
      unbounded.set(lane.slot, lane)
    }
    suspect()
    reader.restart(taken.map((row) => row.slot))
    nudge()
  }

  /**
   * An owner that vanished can have published what was there then. The lease remembers it, whoever holds the lane
   * meanwhile, until no such row is left.
   */
  function suspect(): void {
    if (unbounded.size === 0 || isBounding) return
    isBounding = true
    void findBounds([...unbounded.values()]).finally(() => {
      isBounding = false
    })
  }

  /** What fails is asked again with the next beat, which does not wait for it. */
  async function findBounds(orphaned: readonly (HeldLease & Orphaned)[]): Promise<void> {
    try {
      const lanes = orphaned.map(({ slot, untilSecondsAgo }) => ({ lane: slot, secondsAgo: untilSecondsAgo }))
      const newest = await newestUnsettled(db, lanes)
      // Meanwhile a lane may have been lost, and taken from yet another owner.
      const still = orphaned.filter((lane) => unbounded.get(lane.slot) === lane)
      for (const { slot } of still) {
        courier.suspect(slot, newest.get(slot) ?? BELOW_ALL)
        unbounded.delete(slot)
      }
      const clean = still.filter(({ slot }) => !newest.has(slot))
      const call = { kind: LEASE_KIND, owner: membership.id, deadlineMs: limits.leaseMs }
      if (clean.length > 0) await unorphanLeases(db, call, clean)
    } catch (error) {
      hooks.onError(toCpError(error))
    }
  }

  /** Leases are kept on a beat of their own: a slow read must not cost them. */
  async function keepLanes(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const now = clock.monotonic()
        if (deps.bus.isConnected()) lastConnectedAt = now
        if (now - lastConnectedAt > DISCONNECTED_MS_MAX) await giveBack()
        else await lanes.runOnce()
        suspect()
        courier.schedule()
      } catch (error) {
        hooks.onError(toCpError(error))
      }
      const beatMs = Math.min(LANE_BEAT_MS_MAX, limits.leaseMs / LANE_BEATS_PER_LEASE)
      await clock.sleep(jittered(beatMs, deps.random), stopping.signal)
    }
  }

  /** The next owner of the lanes must find in the table which rows may be in the stream. */
  async function giveBack(deadlineMs = SETTLE_MS): Promise<void> {
    await settler.drain(deadlineMs)
    await lanes.giveBack()
  }

  async function readRows(): Promise<void> {
    while (!stopping.signal.aborted) {
      let found: Awaited<ReturnType<Reader['pass']>> = 'none'
      // Whoever nudges during the pass means the next one.
      let nudged = false
      wake = () => {
        nudged = true
      }
      try {
        if (deps.bus.isConnected() && lanes.isSafe()) found = await reader.pass(stopping.signal)
        if (found !== 'none') courier.schedule()
      } catch (error) {
        hooks.onError(toCpError(error))
        nudged = false
      }
      if (found === 'more' || nudged) await new Promise((resolve) => setImmediate(resolve))
      else await idle(found === 'some' ? LOOK_AGAIN_MS : jittered(limits.idleMs, deps.random))
    }
  }

  function idle(longestMs: number): Promise<void> {
    const due = queues.nextDue() ?? Number.POSITIVE_INFINITY
    const sleeping = new AbortController()
    // With a reason: the one that the platform makes costs a stack trace.
    wake = () => sleeping.abort('nudged')
    const waitMs = Math.min(longestMs, Math.max(1, due - clock.monotonic()))
    return clock.sleep(waitMs, sleeping.signal, stopping.signal)
  }

  return {
    name: `relay ${db.name}`,
    start: async () => {
      running ??= Promise.all([keepLanes(), readRows()])
    },
    stop: async (deadlineMs) => {
      const until = clock.monotonic() + deadlineMs
      stopping.abort()
      await running
      // What is on its way may still be acknowledged; what is not yet sent goes back untouched.
      while (publisher.inFlight() > 0 && clock.monotonic() < until - 500) await clock.sleep(10)
      publisher.close()
      await giveBack(Math.max(200, until - clock.monotonic()))
    },
    nudge,
    stats: () => ({
      lanes: lanes.held().length,
      queued: queues.queued(),
      inFlight: publisher.inFlight(),
      published: courier.published(),
      paused: courier.pausedFor(),
    }),
  }
}
