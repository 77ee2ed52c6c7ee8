// How many commands of a pool or path may be held at a time, and which pools are paused. In the cluster database.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { CommandStatus } from '../../domain/commands/commandRules.js'

const q = queries(
  'command_limits',
  'command_limit_lock',
  'command_limit_set',
  'command_pause',
  'command_resume',
  'command_held',
  'command_claimable',
  'command_waiting',
)

export type LimitScope = 'pool' | 'path'

export interface CommandLimit {
  scope: LimitScope
  name: string
  /** Null: as many as there are. */
  commands_max: number | null
  paused_at: string | null
  reason: string | null
}

export function listLimits(db: Queryable): Promise<CommandLimit[]> {
  return db.run<CommandLimit>(q.command_limits)
}

export async function lockLimits(tx: Tx): Promise<void> {
  await tx.run(q.command_limit_lock)
}

export async function setLimit(db: Queryable, scope: LimitScope, name: string, max: number | null): Promise<void> {
  await db.run(q.command_limit_set, [scope, name, max])
}

export async function pausePool(db: Queryable, pool: string, reason: string | null): Promise<void> {
  await db.run(q.command_pause, [pool, reason])
}

/** False: it was not paused. */
export async function resumePool(db: Queryable, pool: string): Promise<boolean> {
  return (await db.run(q.command_resume, [pool])).count > 0
}

export interface WaitingPool {
  pool: string
  commands: number
  oldest_seconds: number
}

export function waitingPools(db: Queryable, seconds: number): Promise<WaitingPool[]> {
  return db.run<WaitingPool>(q.command_waiting, [seconds])
}

export interface HeldCount {
  scope: LimitScope
  name: string
  commands: number
}

export interface ClaimableCommand {
  command_key: string
  status: CommandStatus
  pool: string
  worker_id: string | null
  path: string | null
}

export function claimableCommands(
  db: Queryable,
  executionId: string,
  keys: readonly string[],
): Promise<ClaimableCommand[]> {
  return db.run<ClaimableCommand>(q.command_claimable, [executionId, keys])
}

export function countHeld(db: Queryable, pools: readonly string[], paths: readonly string[]): Promise<HeldCount[]> {
  return db.run<HeldCount>(q.command_held, [pools, paths])
}
