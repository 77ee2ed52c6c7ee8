// Commands as workers and operators meet them: what waits, what is held, what there is.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { CommandStatus } from '../../domain/commands/commandRules.js'
import { wireTimeFromPostgres } from '../../domain/events/wireTime.js'

const q = queries(
  'command_candidates',
  'command_get',
  'command_beat',
  'command_states',
  'command_list',
  'command_requeue',
  'command_strays',
)

export interface Candidate {
  execution_id: string
  command_id: string
  command_key: string
  step_name: string
  tool_kind: string
  pool: string
  path: string | null
}

export function findCandidates(
  db: Queryable,
  pools: readonly string[],
  kinds: readonly string[] | undefined,
  limit: number,
  withoutPaths: readonly string[],
): Promise<Candidate[]> {
  return db.run<Candidate>(q.command_candidates, [pools, kinds ?? null, limit, withoutPaths])
}

/** A command as it is shown. */
export interface ShownCommand {
  execution_id: string
  command_id: string
  catalog_id: string
  command_key: string
  step_name: string
  tool_kind: string
  pool: string
  status: CommandStatus
  worker_id: string | null
  attempt: number
  max_attempts: number
  priority: number
  lease_token: string | null
  lease_until: string | null
  deadline: string | null
  notify_count: number
  created_at: string
  claimed_at: string | null
  started_at: string | null
  completed_at: string | null
  error: string | null
  /** Of its playbook. */
  path: string | null
}

export async function getCommand(db: Queryable, commandId: string): Promise<ShownCommand | undefined> {
  const [row] = await db.run<ShownCommand>(q.command_get, [commandId])
  return row === undefined ? undefined : withWireTimes(row)
}

export interface CommandFilter {
  executionId?: string | undefined
  status?: string | undefined
  pool?: string | undefined
  after: string
  limit: number
}

export async function listCommands(db: Queryable, filter: CommandFilter): Promise<ShownCommand[]> {
  const { executionId, status, pool, after, limit } = filter
  const values = [executionId ?? null, status ?? null, pool ?? null, after, limit]
  return (await db.run<ShownCommand>(q.command_list, values)).map(withWireTimes)
}

const TIMES = ['lease_until', 'deadline', 'created_at', 'claimed_at', 'started_at', 'completed_at'] as const

function withWireTimes(row: ShownCommand): ShownCommand {
  const times = TIMES.map((key) => [key, row[key] === null ? null : wireTimeFromPostgres(row[key], key)])
  return { ...row, ...Object.fromEntries(times) }
}

export interface CommandKey {
  executionId: string
  commandId: string
}

/** Extends the leases of those that the worker holds, by these tokens where they are given. */
export async function beatCommands(
  db: Queryable,
  keys: readonly (CommandKey & { leaseToken?: number | undefined })[],
  workerId: string,
): Promise<void> {
  const ids = [keys.map((key) => key.executionId), keys.map((key) => key.commandId)]
  await db.run(q.command_beat, [...ids, keys.map((key) => key.leaseToken ?? null), workerId])
}

export interface CommandState {
  execution_id: string
  command_id: string
  status: CommandStatus
  worker_id: string | null
  lease_token: string | null
  lease_until: string | null
  execution_status: string
}

export function readCommandStates(db: Queryable, keys: readonly CommandKey[]): Promise<CommandState[]> {
  return db.run<CommandState>(q.command_states, [keys.map((key) => key.executionId), keys.map((key) => key.commandId)])
}

/** Takes it from the given holder, or from whoever holds it. The attempt that it waits for now; undefined: nobody held it so. */
export async function requeueCommand(
  db: Queryable,
  { executionId, commandId }: CommandKey,
  holder?: { workerId: string; leaseToken: number },
): Promise<number | undefined> {
  const values = [executionId, commandId, holder?.workerId ?? null, holder?.leaseToken ?? null]
  const [row] = await db.run<{ attempt: number }>(q.command_requeue, values)
  return row?.attempt
}

/** Answers how many were given back. */
export async function releaseStrays(
  db: Queryable,
  workerId: string,
  known: readonly string[],
  seconds: number,
): Promise<number> {
  return (await db.run(q.command_strays, [workerId, known, seconds])).count
}
