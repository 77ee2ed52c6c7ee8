// Hooks of versions (cluster database), and of executions that have failed (beside the execution).
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('on_failure_put', 'on_failure_list', 'failure_hook_note', 'failure_hook_take', 'failure_hook_write')

/** `hook`: JSON text. */
export async function putOnFailure(db: Queryable, catalogId: string, hook: string): Promise<void> {
  await db.run(q.on_failure_put, [catalogId, hook])
}

export function listOnFailure(db: Queryable, limit: number): Promise<{ catalog_id: string; hook: string }[]> {
  return db.run(q.on_failure_list, [limit])
}

/** Of some versions, or of all. Answers how many are new. */
export async function noteFailures(
  db: Queryable,
  catalogIds: readonly string[] | undefined,
  seconds: number,
  limit: number,
): Promise<number> {
  return (await db.run(q.failure_hook_note, [catalogIds ?? null, seconds, limit])).length
}

export interface FailedExecution {
  execution_id: string
  attempts: number
  catalog_id: string
  path: string | null
  error: string | null
  start_event_id: string | null
  start_time: string | null
  end_time: string | null
  tenant_id: string
  organization_id: string
}

export function takeFailures(db: Queryable, againSeconds: number, limit: number): Promise<FailedExecution[]> {
  return db.run<FailedExecution>(q.failure_hook_take, [againSeconds, limit])
}

export async function writeHookOutcome(
  db: Queryable,
  executionId: string,
  outcome: {
    state: 'PENDING' | 'DONE' | 'GIVEN_UP' | 'NONE'
    started?: string | undefined
    error?: string | undefined
  },
): Promise<void> {
  await db.run(q.failure_hook_write, [executionId, outcome.state, outcome.started ?? null, outcome.error ?? null])
}
