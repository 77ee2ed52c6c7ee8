// Fills an outbox with rows of 512-byte payloads, spread over a number of executions, server-side and fast.
const PAYLOAD_BYTES = 512

export async function fillOutbox(sql, { rows, executions, status = 'PENDING', firstEvent = 1 }) {
  // jsonb text of the fixed keys is about 150 bytes; the filler brings the whole to 512.
  await sql.unsafe(
    `insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, status, published_at)
     select e, n, 'noetl.events.default.default.' || e || '.0',
       jsonb_build_object('event_id', n, 'execution_id', e, 'event_type', 'step.exit', 'stream_version', (n - 1) / ${executions} + 1,
         'timestamp', '2026-11-16T00:00:00.000000+00:00', 'filler', repeat('x', ${PAYLOAD_BYTES} - 175)),
       'json', '${status}', ${status === 'PUBLISHED' ? 'now()' : 'null'}
     from (select n, 380000000000000000 + (n % ${executions}) * 4194304 as e
           from generate_series(${firstEvent}::bigint, ${firstEvent + rows - 1}::bigint) as n) as g`,
  )
}

export async function resetOutbox(sql) {
  await sql.unsafe('truncate noetl.outbox restart identity')
}

// In the words of the index on unsettled rows: counting by `status <> 'PUBLISHED'` would read the whole table, and
// whoever asks that often measures himself.
const UNSETTLED = `status in ('PENDING', 'FAILED', 'IN_FLIGHT')`

export async function countUnsettled(sql) {
  const [row] = await sql.unsafe(`select count(*)::int as left from noetl.outbox where ${UNSETTLED}`)
  return row.left
}

export async function hasUnsettled(sql) {
  const [row] = await sql.unsafe(`select exists (select 1 from noetl.outbox where ${UNSETTLED}) as found`)
  return row.found
}
