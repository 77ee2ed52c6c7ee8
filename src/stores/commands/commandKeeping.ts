// What the keeper of commands asks the database: whose lease goes on, whose is over.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'command_extend',
  'command_reclaim',
  'command_lost',
  'command_unnoticed',
  'command_overdue',
  'command_counts',
)

export interface AliveWorker {
  name: string
  /** When it registered last; 0 for never. */
  sinceMs: number
}

/** Answers how many. */
export async function extendLeases(
  db: Queryable,
  alive: readonly AliveWorker[],
  hardLimitSeconds: number,
  limit: number,
): Promise<number> {
  const values = [alive.map(({ name }) => name), alive.map(({ sinceMs }) => sinceMs), hardLimitSeconds, limit]
  return (await db.run(q.command_extend, values)).count
}

/** Answers how many. */
export async function reclaimCommands(db: Queryable, limit: number): Promise<number> {
  return (await db.run(q.command_reclaim, [limit])).count
}

export interface LostCommand {
  execution_id: string
  command_id: string
  command_key: string
  step_name: string
  tool_kind: string
  attempt: number
  worker_id: string | null
}

export function lostCommands(db: Queryable, limit: number): Promise<LostCommand[]> {
  return db.run<LostCommand>(q.command_lost, [limit])
}

export interface UnnoticedCommand {
  execution_id: string
  command_id: string
  command_key: string
  step_name: string
  pool: string
  attempt: number
  notify_count: number
}

/** They count as told of. */
export function takeUnnoticed(db: Queryable, everySeconds: number, limit: number): Promise<UnnoticedCommand[]> {
  return db.run<UnnoticedCommand>(q.command_unnoticed, [everySeconds, limit])
}

export async function overdueExecutions(db: Queryable, limit: number, seconds: number): Promise<string[]> {
  return (await db.run<{ execution_id: string }>(q.command_overdue, [limit, seconds])).map((row) => row.execution_id)
}

export interface OpenCommands {
  status: 'PENDING' | 'CLAIMED' | 'RUNNING'
  commands: number
  oldest_seconds: number
}

export function countCommands(db: Queryable): Promise<OpenCommands[]> {
  return db.run<OpenCommands>(q.command_counts)
}
