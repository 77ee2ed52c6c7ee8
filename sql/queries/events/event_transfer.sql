-- name: event_tail
-- The last $2 events of execution $1 with everything they carry, newest first.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, event_type, node_id, node_name, node_type,
  status, worker_id, duration, context, result, meta, error, stack_trace, tenant_id, organization_id, stream_version,
  created_at::text as created_at, stage_id, frame_id, command_id, payload_ref, aggregate_id, aggregate_type, schema_name, schema_version
from noetl.event
where execution_id = $1::bigint
order by event_id desc
limit $2::int;

-- name: event_unnumbered
-- Events of execution $1 that nobody has numbered yet, after event $2, up to $3 rows in id order.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, event_type, node_id, node_name, node_type,
  status, worker_id, duration, context, result, meta, error, stack_trace, tenant_id, organization_id, stream_version,
  created_at::text as created_at, stage_id, frame_id, command_id, payload_ref, aggregate_id, aggregate_type, schema_name, schema_version
from noetl.event
where execution_id = $1::bigint and stream_version is null and event_id > $2::bigint
order by event_id
limit $3::int;

-- name: event_set_details
-- Columns that only imported events bring: one array per column, $1 and $2 are the keys of rows just inserted.
update noetl.event e
set
  stage_id = given.stage_id,
  frame_id = given.frame_id,
  command_id = given.command_id,
  payload_ref = given.payload_ref::jsonb,
  aggregate_id = given.aggregate_id,
  aggregate_type = given.aggregate_type,
  schema_name = given.schema_name,
  schema_version = coalesce(given.schema_version, 1)
from unnest(
  $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[]
) as given (
  execution_id, event_id, stage_id, frame_id, command_id, payload_ref, aggregate_id, aggregate_type, schema_name, schema_version
)
where e.execution_id = given.execution_id and e.event_id = given.event_id;
