-- name: event_tail_ids
-- The last $2 events of execution $1, newest first.
select event_id from noetl.event where execution_id = $1::bigint order by event_id desc limit $2::int;

-- name: event_unnumbered_ids
-- Events of execution $1 that nobody has numbered yet, after event $2, up to $3 in id order.
select event_id from noetl.event
where execution_id = $1::bigint and stream_version is null and event_id > $2::bigint
order by event_id
limit $3::int;

-- name: event_numbered_ids
-- Events of execution $1 numbered after $2, up to $3, in that order.
select event_id, stream_version from noetl.event
where execution_id = $1::bigint and stream_version > $2::bigint
order by stream_version
limit $3::int;

-- name: event_whole
-- Every column of the events $2 of execution $1, in the order given. JSON as text: what is exported keeps every digit.
select
  e.event_id, e.execution_id, e.stream_version, e.catalog_id, e.parent_event_id, e.parent_execution_id, e.prev_event_id,
  e.event_type, e.node_id, e.node_name, e.node_type, e.status, e.worker_id, e.duration, e.created_at::text as created_at,
  e.event_time::text as event_time, e.ingest_time::text as ingest_time, e.context::text as context,
  e.result::text as result, e.meta::text as meta, e.trace_component::text as trace_component, e.error, e.stack_trace,
  e.tenant_id, e.organization_id, e.stage_id, e.frame_id, e.command_id, e.payload_ref::text as payload_ref,
  e.aggregate_id, e.aggregate_type, e.schema_name, e.schema_version, e.stream_id, e.producer, e.causation_id,
  e.correlation_id, e.idempotency_key, e.current_index, e.current_item, e.distributed_state, e.context_key,
  e.context_value, e.envelope_checksum, e.sealed
from unnest($2::bigint[]) with ordinality as given (event_id, position)
join noetl.event e on e.execution_id = $1::bigint and e.event_id = given.event_id
order by given.position;

-- name: event_bytes
-- About how many bytes event $2 of execution $1 has as text.
select coalesce(octet_length(context::text), 0)::bigint + coalesce(octet_length(result::text), 0) + coalesce(octet_length(meta::text), 0)
  + coalesce(octet_length(error), 0) + coalesce(octet_length(stack_trace), 0) as bytes
from noetl.event where execution_id = $1::bigint and event_id = $2::bigint;

-- name: event_restore
-- The columns of imported events that appending does not write, or not as they were: executions $1, events $2, times of
-- the events $3 and of their arrival $4, their lines $6. JSON is read from the line, with every digit, unless a secret
-- was taken out just now ($5 false).
update noetl.event e
set
  event_type = said ->> 'event_type',
  duration = (said ->> 'duration')::double precision,
  event_time = given.event_time,
  ingest_time = given.ingest_time,
  context = case
    when not given.is_whole then e.context when said -> 'json_nulls' ? 'context' then 'null' else nullif(said -> 'context', 'null') end,
  result = case
    when not given.is_whole then e.result when said -> 'json_nulls' ? 'result' then 'null' else nullif(said -> 'result', 'null') end,
  meta = case
    when not given.is_whole then e.meta when said -> 'json_nulls' ? 'meta' then 'null' else nullif(said -> 'meta', 'null') end,
  trace_component = case when said -> 'json_nulls' ? 'trace_component' then 'null' else nullif(said -> 'trace_component', 'null') end,
  payload_ref = case when said -> 'json_nulls' ? 'payload_ref' then 'null' else nullif(said -> 'payload_ref', 'null') end,
  envelope_checksum = case when given.is_whole then said ->> 'envelope_checksum' else e.envelope_checksum end,
  stage_id = (said ->> 'stage_id')::bigint,
  frame_id = (said ->> 'frame_id')::bigint,
  command_id = (said ->> 'command_id')::bigint,
  aggregate_id = said ->> 'aggregate_id',
  aggregate_type = said ->> 'aggregate_type',
  schema_name = said ->> 'schema_name',
  schema_version = coalesce((said ->> 'schema_version')::integer, 1),
  stream_id = said ->> 'stream_id',
  producer = said ->> 'producer',
  causation_id = said ->> 'causation_id',
  correlation_id = said ->> 'correlation_id',
  idempotency_key = said ->> 'idempotency_key',
  current_index = (said ->> 'current_index')::integer,
  current_item = said ->> 'current_item',
  distributed_state = said ->> 'distributed_state',
  context_key = said ->> 'context_key',
  context_value = said ->> 'context_value'
from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::boolean[], $6::text[])
  as given (execution_id, event_id, event_time, ingest_time, is_whole, line)
cross join lateral (select given.line::jsonb as said) as line
where e.execution_id = given.execution_id and e.event_id = given.event_id;
