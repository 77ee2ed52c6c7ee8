-- name: start_insert
-- Executions that begin, each with its row, its first event and its outbox row. Per execution: ids $1, events $2, times
-- $3, subjects $4, traces $5, contexts $6 and metas $7 (one JSON array each). For all of them: catalog entry $8, path
-- $9, parent $10, tenant $11, organisation $12, event type $13, node id $14, node type $15, event status $16, result
-- $17, execution status $18, engine $20. Sealed secrets $19 per execution. The message is put together here: its parts are read once, for the event.
with given as (
  select execution_id, event_id, at_text, subject, trace, sealed, context, meta, position
  from rows from (
    unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $19::text[]),
    jsonb_array_elements($6::jsonb),
    jsonb_array_elements($7::jsonb)
  ) with ordinality as one (execution_id, event_id, at_text, subject, trace, sealed, context, meta, position)
),
executions as (
  insert into noetl.execution (
    execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, status, stream_version, event_count,
    last_event_id, last_event_type, start_event_id, start_event_type, start_time, engine
  )
  select execution_id, $8::bigint, $9::text, $10::bigint, $11::text, $12::text, $18::text, 1, 1,
    event_id, $13::text, event_id, $13::text, at_text::timestamptz, $20::smallint
  from given
),
events as (
  insert into noetl.event (
    execution_id, event_id, catalog_id, parent_execution_id, created_at, event_time, ingest_time, event_type, node_id, node_name,
    node_type, status, context, result, meta, tenant_id, organization_id, stream_version, sealed
  )
  select execution_id, event_id, $8::bigint, $10::bigint, at_text::timestamptz at time zone 'utc', at_text::timestamptz,
    (select clock_timestamp()), $13::text, $14::text, $9::text, $15::text, $16::text, context, $17::jsonb, meta, $11::text, $12::text, 1, sealed
  from given
)
insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, trace)
select execution_id, event_id, subject,
  jsonb_build_object(
    'event_id', event_id, 'execution_id', execution_id, 'catalog_id', $8::bigint, 'stream_version', 1,
    'tenant_id', $11::text, 'organization_id', $12::text, 'event_type', $13::text, 'node_id', $14::text,
    'node_name', $9::text, 'node_type', $15::text, 'status', $16::text, 'timestamp', at_text,
    'context', context, 'result', $17::jsonb, 'meta', meta
  ) || case when $10::bigint is null then '{}' else jsonb_build_object('parent_execution_id', $10::bigint) end,
  'json', trace::jsonb
from given
order by position;
