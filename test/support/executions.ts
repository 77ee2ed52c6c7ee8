// Rows of the event log at a chosen time, written the way tests need them: straight into the tables.
import { composeSnowflake } from '../../src/domain/ids/snowflake.js'
import type { TestDatabase } from './database.js'

export interface PlantedExecution {
  atMs: number
  status?: 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'UNKNOWN'
  events?: number
  /** Instead of an id minted at that time. */
  executionId?: bigint
  /** Status of the outbox rows; none without it. */
  outbox?: string
  /** Events without a number, as another writer leaves them, and no read model. */
  foreign?: boolean
  machineId?: number
}

let sequence = 0

export async function plantExecution(database: TestDatabase, planted: PlantedExecution): Promise<string> {
  sequence = (sequence + 1) % 4096
  const id = (planted.executionId ?? composeSnowflake(planted.atMs, planted.machineId ?? 7, sequence)).toString()
  const at = new Date(planted.atMs).toISOString()
  const status = planted.status ?? 'COMPLETED'
  const count = planted.events ?? 2
  const ended = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status)
  if (planted.foreign !== true) {
    await database.sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time, end_time, updated_at, stream_version, event_count, path)
       values ($1::bigint, 1, $2::text, $3::timestamptz, case when $4::boolean then $3::timestamptz end, $3::timestamptz, $5::int, $5::int, 'test/planted')`,
      [id, status, at, ended, count],
    )
  }
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, created_at, event_time, event_type, stream_version)
     select $1::bigint, $1::bigint + n, 1, $2::timestamptz at time zone 'utc', $2::timestamptz, 'step.enter',
       case when $4::boolean then null else n end
     from generate_series(1, $3::int) as n`,
    [id, at, count, planted.foreign === true],
  )
  if (planted.outbox !== undefined) {
    await database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload, status) values ($1::bigint, $1::bigint + 1, 's', '{}', $2::text)`,
      [id, planted.outbox],
    )
  }
  return id
}
