// Outbox rows as another writer would insert them: plain INSERTs with the NoETL server columns only.
import type { TestDatabase } from './database.js'

export const EXECUTION_BASE = 380_000_000_000_000_000n

export interface FillOptions {
  rows: number
  executions: number
  prefix: string
  firstEvent?: number
}

export async function insertRows(database: TestDatabase, options: FillOptions): Promise<void> {
  const first = options.firstEvent ?? 1
  await database.sql(
    `insert into noetl.outbox (execution_id, event_id, subject, payload)
     select e, n, $1 || '.default.default.' || e || '.0',
       jsonb_build_object('event_id', n, 'execution_id', e, 'event_type', 'step.exit', 'n', n)
     from (select n, ${EXECUTION_BASE}::bigint + (n % $2::int) * 4194304 as e
           from generate_series($3::bigint, $4::bigint) as n) as g order by n`,
    [options.prefix, options.executions, first, first + options.rows - 1],
  )
}

export function committedRows(database: TestDatabase): Promise<{ outbox_id: string; message_id: string }[]> {
  return database.sql<{ outbox_id: string; message_id: string }>(
    `select outbox_id, coalesce(execution_id::text, 'none') || ':' || event_id as message_id from noetl.outbox order by outbox_id`,
  )
}

export async function countBy(database: TestDatabase): Promise<Record<string, number>> {
  const rows = await database.sql<{ status: string; count: number }>(
    'select status, count(*)::int as count from noetl.outbox group by status',
  )
  return Object.fromEntries(rows.map((row) => [row.status, row.count]))
}
