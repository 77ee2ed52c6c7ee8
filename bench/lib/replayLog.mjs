// Logs to replay: the 100,000 events of the golden vector, and generated ones of any length whose state is small.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { arrayLiteral } from '../../dist/db/params.js'
import { parseJson } from '../../dist/domain/json/parse.js'
import { writeJson } from '../../dist/domain/json/write.js'

const COLUMNS = [
  ['event_id', 'bigint'],
  ['event_type', 'text'],
  ['node_name', 'text'],
  ['status', 'text'],
  ['meta', 'jsonb'],
  ['result', 'jsonb'],
  ['payload_ref', 'jsonb'],
  ['stage_id', 'bigint'],
  ['frame_id', 'bigint'],
  ['command_id', 'bigint'],
]
const CHUNK = 5_000

export function readVectorLog() {
  const packed = readFileSync(new URL('../../test/fixtures/bench-100k.json.gz', import.meta.url))
  const text = gunzipSync(packed)
    .toString('utf8')
    .replace(/\{"\$(?:int|float)":"([^"]+)"\}/g, '$1')
  return parseJson(text)
}

export async function loadVectorLog(sql, log, executionId) {
  const names = COLUMNS.map(([name]) => name).join(', ')
  const picked = COLUMNS.map(([name, type]) => (type === 'jsonb' ? `${name}::jsonb` : name)).join(', ')
  const arrays = COLUMNS.map(([, type], index) => `$${index + 1}::${type === 'jsonb' ? 'text' : type}[]`).join(', ')
  for (let start = 0; start < log.events.length; start += CHUNK) {
    const rows = log.events.slice(start, start + CHUNK)
    await sql.unsafe(
      `insert into noetl.event (execution_id, catalog_id, stream_version, ${names})
       select ${executionId}, 1, ${start} + ordinal, ${picked}
       from unnest(${arrays}) with ordinality as given (${names}, ordinal)`,
      COLUMNS.map(([name, type]) => arrayLiteral(rows.map((row) => columnOf(row[name], type)))),
    )
  }
  await sql.unsafe('vacuum analyze noetl.event')
}

function columnOf(value, type) {
  if (value === undefined || value === null) return null
  return type === 'jsonb' ? writeJson(value) : String(value)
}

/** Commands and steps that come again and again: the state does not grow with the log. */
export async function generateLog(sql, executionId, count) {
  await sql.unsafe(
    `insert into noetl.event (execution_id, event_id, catalog_id, stream_version, event_type, node_name, status, meta,
       payload_ref, stage_id, frame_id, command_id)
     select ${executionId}, 612345678901236660 + n * 3, 1, n,
       (array['command.issued', 'command.claimed', 'command.started', 'frame.started', 'frame.committed', 'command.completed'])[1 + n % 6],
       'step_' || n % 10, (array['PENDING', 'CLAIMED', 'RUNNING', 'RUNNING', 'COMPLETED', 'COMPLETED'])[1 + n % 6],
       jsonb_build_object('loop_event_id', 'loop_' || n % 20, 'worker_id', 'w' || n % 7, 'row_count', n % 50, 'attempt', 1),
       case when n % 6 = 4 and n < 1000 then jsonb_build_object('ref', 'noetl://r/' || n, 'row_count', 50) end,
       7000 + n % 20, 40000 + n % 500, 900000 + n % 500
     from generate_series(1, ${count}) as n`,
  )
  await sql.unsafe('vacuum analyze noetl.event')
}

/** Every fourth event is a new command, many are open at a time and few fail: the state grows with the log. */
export async function generateGrowingLog(sql, executionId, { commands, steps }) {
  await sql.unsafe(
    `insert into noetl.event (execution_id, event_id, catalog_id, stream_version, event_type, node_name, status, meta,
       command_id, created_at)
     select ${executionId}, 612345678901236660 + n * 3, 1, n, event_type, 'step_' || c % ${steps}, status,
       jsonb_build_object('worker_id', 'w' || c % 7, 'attempt', 1), 900000 + c,
       timestamp '2026-01-01' + n * interval '10 milliseconds'
     from (
       select c, row_number() over (order by c * 4 + phase * (40 + c * 7919 % 200), c, phase) as n,
         case when phase = 3 and c % 97 = 0 then 'command.failed'
           else (array['command.issued', 'command.claimed', 'command.started', 'command.completed'])[1 + phase] end as event_type,
         case when phase = 3 and c % 97 = 0 then 'FAILED'
           else (array['PENDING', 'CLAIMED', 'RUNNING', 'COMPLETED'])[1 + phase] end as status
       from generate_series(0::bigint, ${commands - 1}) as c, generate_series(0, 3) as phase
     ) as log`,
  )
  await sql.unsafe('vacuum analyze noetl.event')
}
