// How far executions are, in as few columns as tell whether anything has happened.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('execution_pulses', 'execution_pulses_newest')

export interface ExecutionPulse {
  execution_id: string
  stream_version: string
  status: string
  last_node_name: string | null
  path: string | null
}

export async function pulsesOf(db: Queryable, ids: readonly string[]): Promise<ExecutionPulse[]> {
  return ids.length === 0 ? [] : db.run<ExecutionPulse>(q.execution_pulses, [ids])
}

/** Newest first. */
export function newestPulses(db: Queryable, limit: number): Promise<ExecutionPulse[]> {
  return db.run<ExecutionPulse>(q.execution_pulses_newest, [limit])
}
