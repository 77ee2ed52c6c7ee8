// Limits of pools and of playbooks' paths, kept by whoever hands out commands. Nothing is counted while nothing is limited; what
// is limited is handed out by one process at a time, so that two never exceed a limit together.
import type { Databases } from '../../db/databases.js'
import { isFinal } from '../../domain/commands/commandRules.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createOneAtATime } from '../../runtime/oneAtATime.js'
import {
  type ClaimableCommand,
  type CommandLimit,
  countHeld,
  type LimitScope,
  listLimits,
  lockLimits,
  pausePool,
  resumePool,
  setLimit,
} from '../../stores/commands/commandLimits.js'
import type { Unclaimable } from '../events/appendInTx.js'

/** What may be handed out now. */
export interface Room {
  /** Of them nothing is handed out, whatever there is room for. */
  paused: ReadonlySet<string>
  /** Pools that are not paused and not full. */
  pools: readonly string[]
  fullPaths: readonly string[]
  /** Takes one place; false: there is none. */
  take(pool: string, path: string | null): boolean
}

export interface CommandLimits {
  /** Runs the work with the room that there is; alone, if any of it is limited. */
  within<T>(pools: readonly string[], work: (room: Room) => Promise<T>): Promise<T>
  /** Whether anything is paused or limited. */
  areSet(): Promise<boolean>
  /** Those of the pools of which any number may be handed out now, without a count. */
  unlimited(pools: readonly string[]): Promise<readonly string[]>
}

/** A pause is obeyed after at most this time. */
const REMEMBERED_MS = 500
/** Whoever has waited longer for its turn is told to come again, so that nobody waits for all those before. */
const PATIENCE_MS = 10_000
const WAITING_MAX = 1_000

export function createCommandLimits({ databases, clock }: { databases: Databases; clock: Clock }): CommandLimits {
  // Whoever waits for the lock in the database holds a connection, and the one who has it needs more of them.
  const alone = createOneAtATime()
  let waiting = 0
  let known: Promise<CommandLimit[]> | undefined
  let readAt = Number.NEGATIVE_INFINITY

  function limits(): Promise<CommandLimit[]> {
    const now = clock.monotonic()
    if (known === undefined || now - readAt > REMEMBERED_MS) {
      readAt = now
      known = listLimits(databases.cluster.db)
      known.catch(() => {
        known = undefined
      })
    }
    return known
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= WAITING_MAX) throw tooMany()
    waiting++
    const asked = clock.monotonic()
    try {
      return await alone(async () => {
        if (clock.monotonic() - asked > PATIENCE_MS) throw tooMany()
        return work()
      })
    } finally {
      waiting--
    }
  }

  return {
    areSet: async () => (await limits()).length > 0,
    unlimited: async (pools) => {
      const all = await limits()
      if (all.some(({ scope }) => scope === 'path')) return []
      return pools.filter((pool) => all.every(({ name }) => name !== pool))
    },
    within: async (pools, work) => {
      const all = await limits()
      const paused = new Set(all.filter(({ paused_at: at }) => at !== null).map(({ name }) => name))
      const open = pools.filter((pool) => !paused.has(pool))
      const counted = all.filter(
        ({ scope, name, commands_max: max }) => max !== null && (scope === 'path' || open.includes(name)),
      )
      if (counted.length === 0) return work({ paused, pools: open, fullPaths: [], take: () => true })
      return inTurn(() =>
        databases.cluster.db.tx(async (tx) => {
          await lockLimits(tx)
          return work({ paused, ...(await roomIn(databases, open, counted)) })
        }),
      )
    },
  }
}

function tooMany(): CpError {
  const message = 'too many claims of limited pools wait for their turn; claim again'
  return new CpError('overloaded', message, { details: { retryAfterSeconds: 1 } })
}

async function roomIn(
  databases: Databases,
  pools: readonly string[],
  counted: readonly CommandLimit[],
): Promise<Omit<Room, 'paused'>> {
  const namesOf = (scope: LimitScope) => counted.filter((limit) => limit.scope === scope).map(({ name }) => name)
  const { answers, failures } = await databases.fanOut((db) => countHeld(db, namesOf('pool'), namesOf('path')))
  if (failures[0] !== undefined) throw failures[0].error
  const left = new Map(counted.map(({ scope, name, commands_max: max }) => [`${scope} ${name}`, max ?? 0]))
  for (const { scope, name, commands } of answers.flatMap(({ value }) => value)) {
    left.set(`${scope} ${name}`, (left.get(`${scope} ${name}`) ?? 0) - commands)
  }
  const isFull = (key: string) => (left.get(key) ?? 1) <= 0
  return {
    pools: pools.filter((pool) => !isFull(`pool ${pool}`)),
    fullPaths: namesOf('path').filter((path) => isFull(`path ${path}`)),
    take: (pool, path) => {
      const keys = [`pool ${pool}`, `path ${path}`].filter((key) => left.has(key))
      if (keys.some(isFull)) return false
      for (const key of keys) left.set(key, left.get(key)! - 1)
      return true
    },
  }
}

/** Whether the worker may be given the command, and takes the place for it. */
export function hasRoom(
  room: Room,
  { status, pool, path, worker_id: holder }: ClaimableCommand,
  workerId: string | undefined,
): boolean {
  if (status === 'PENDING') return room.pools.length > 0 && room.take(pool, path)
  // What is held or has ended takes no place more; but a paused pool hands nothing to another worker, whatever lease is over.
  return isFinal(status) || holder === workerId || !room.paused.has(pool)
}

export function saturated(eventId: string): Unclaimable {
  return { kind: 'unclaimable', eventId, code: 'pool_saturated', workerId: undefined, retryAfterSeconds: 5 }
}

export function poolLimits({ cluster }: Databases): Promise<CommandLimit[]> {
  return listLimits(cluster.db)
}

/** What is running goes on. */
export function pauseWorkerPool({ cluster }: Databases, pool: string, reason: string | undefined): Promise<void> {
  return pausePool(cluster.db, pool, reason ?? null)
}

/** False: it was not paused. */
export function resumeWorkerPool({ cluster }: Databases, pool: string): Promise<boolean> {
  return resumePool(cluster.db, pool)
}

/** Undefined: as many as there are. */
export function limitCommands(
  { cluster }: Databases,
  scope: LimitScope,
  name: string,
  max: number | undefined,
): Promise<void> {
  return setLimit(cluster.db, scope, name, max ?? null)
}
