// The rows of one execution once more, by one session and with nothing around it: what the database alone needs for them.
const BATCH = 500

const EVENTS = `insert into noetl.event (execution_id, event_id, catalog_id, created_at, event_time, event_type, node_id, node_name, node_type, status,
    context, result, meta, tenant_id, organization_id, stream_version)
  select $1::bigint, event_id, 1, now(), now(), event_type, node_name, node_name, node_type, status,
    nullif(context, 'null'), nullif(result, 'null'), nullif(meta, 'null'), 'default', 'default', stream_version
  from rows from (
    unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[]),
    jsonb_array_elements($8::text::jsonb), jsonb_array_elements($9::text::jsonb), jsonb_array_elements($10::text::jsonb)
  ) as given (event_id, event_type, node_name, node_type, status, stream_version, context, result, meta)`
const MESSAGES = `insert into noetl.outbox (execution_id, event_id, subject, payload)
  select $1::bigint, event_id, subject, payload
  from rows from (unnest($2::bigint[], $3::text[]), jsonb_array_elements($4::text::jsonb)) as given (event_id, subject, payload)`

/** Milliseconds for all of them; `asExecution` must not have any yet. */
export async function insertBare(sql, executionId, asExecution) {
  const rows = await sql`
    select e.event_id::text, e.event_type, e.node_name, e.node_type, e.status, e.stream_version::text, coalesce(e.context::text, 'null') as context,
      coalesce(e.result::text, 'null') as result, coalesce(e.meta::text, 'null') as meta, o.subject, o.payload::text as payload
    from noetl.event e join noetl.outbox o on o.execution_id = e.execution_id and o.event_id = e.event_id
    where e.execution_id = ${executionId} order by e.event_id`
  const batches = []
  for (let at = 0; at < rows.length; at += BATCH) batches.push(statementsOf(rows.slice(at, at + BATCH), asExecution))
  const started = performance.now()
  for (const { events, messages } of batches) {
    await sql.begin((tx) => [
      tx.unsafe(EVENTS, events, { prepare: true }),
      tx.unsafe(MESSAGES, messages, { prepare: true }),
    ])
  }
  return performance.now() - started
}

function statementsOf(rows, executionId) {
  const column = (name) => rows.map((row) => row[name])
  const json = (name) => `[${column(name).join(',')}]`
  const plain = ['event_id', 'event_type', 'node_name', 'node_type', 'status', 'stream_version'].map(column)
  return {
    events: [executionId, ...plain, json('context'), json('result'), json('meta')],
    messages: [executionId, column('event_id'), column('subject'), json('payload')],
  }
}
