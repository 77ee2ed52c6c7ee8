// Finds what an execution may be waiting for, one small query per reason.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'state_stuck_events',
  'state_stuck_claims',
  'state_stuck_outbox',
  'state_stuck_transaction',
  'state_stuck_pools',
  'state_stuck_subscription',
  'state_stuck_commands',
  'state_stuck_executions',
  'state_stuck_parents',
)

export interface EventAge {
  event_id: string
  created_at: string
  age_seconds: number
  worker_id: string | null
  pool: string | null
  /** It has issued a command, and that is in its pool, not with a worker. */
  is_waiting: boolean
}

export function readEventAges(db: Queryable, executionId: string, eventIds: readonly string[]): Promise<EventAge[]> {
  return db.run<EventAge>(q.state_stuck_events, [executionId, eventIds])
}

export interface ClaimAge {
  command_id: string
  worker_id: string | null
  age_seconds: number
}

export function readClaimAges(db: Queryable, executionId: string, commandIds: readonly string[]): Promise<ClaimAge[]> {
  return db.run<ClaimAge>(q.state_stuck_claims, [executionId, commandIds])
}

export interface WaitingRow {
  outbox_id: string
  event_id: string
  status: string
  attempts: number
  last_error: string | null
  age_seconds: number
  wait_seconds: number
  lease_seconds: number | null
}

export function listWaitingRows(db: Queryable, executionId: string, limit: number): Promise<WaitingRow[]> {
  return db.run<WaitingRow>(q.state_stuck_outbox, [executionId, limit])
}

export interface OpenTransaction {
  pid: number
  usename: string | null
  application_name: string | null
  state: string | null
  age_seconds: number
  query: string | null
}

export async function oldestTransaction(db: Queryable, olderThanSeconds: number): Promise<OpenTransaction | undefined> {
  return (await db.run<OpenTransaction>(q.state_stuck_transaction, [olderThanSeconds]))[0]
}

export interface PoolAge {
  /** Of the worker. */
  name: string
  /** That it works for. */
  pool: string
  status: string
  age_seconds: number
}

export function listPools(cluster: Queryable): Promise<PoolAge[]> {
  return cluster.run<PoolAge>(q.state_stuck_pools)
}

export interface InactiveSubscription {
  subscription_id: string
  path: string
  state: string
  reason: string | null
  paused_until: string | null
}

export async function inactiveSubscription(
  cluster: Queryable,
  executionId: string,
  parentExecutionId: string | null,
): Promise<InactiveSubscription | undefined> {
  const rows = await cluster.run<InactiveSubscription>(q.state_stuck_subscription, [executionId, parentExecutionId])
  return rows[0]
}

export interface StuckCommand {
  execution_id: string
  pool: string | null
  /** Of a claim that has ended. */
  worker_id: string | null
}

export function listStuckCommands(
  db: Queryable,
  { alive, seconds, limit }: { alive: readonly string[]; seconds: number; limit: number },
): Promise<StuckCommand[]> {
  return db.run<StuckCommand>(q.state_stuck_commands, [alive, seconds, limit])
}

export interface StandingExecution {
  execution_id: string
  engine: number | null
  /** Since its last event. */
  quiet_seconds: number
  has_failed: boolean | null
}

export interface StandingFilter {
  engine: number
  failedTypes: readonly string[]
  failedSeconds: number
  quietSeconds: number
  lookedAtMax: number
  limit: number
}

export function listStandingExecutions(db: Queryable, filter: StandingFilter): Promise<StandingExecution[]> {
  const { engine, failedTypes, failedSeconds, quietSeconds, lookedAtMax, limit } = filter
  return db.run<StandingExecution>(q.state_stuck_executions, [
    engine,
    failedTypes,
    failedSeconds,
    quietSeconds,
    lookedAtMax,
    limit,
  ])
}

/** Those of them that wait for others, which they have started. */
export async function listWaitingParents(db: Queryable, executionIds: readonly string[]): Promise<string[]> {
  const rows = await db.run<{ execution_id: string }>(q.state_stuck_parents, [executionIds])
  return rows.map(({ execution_id: id }) => id)
}
