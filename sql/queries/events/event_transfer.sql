-- name: event_tail_ids(execution_id, limit_rows)
-- The last `limit_rows` events of execution `execution_id`, newest first.
select event_id from noetl.event where execution_id = :execution_id::bigint order by event_id desc limit :limit_rows::int;

-- name: event_unnumbered_ids(execution_id, after, limit_rows)
-- Events of execution `execution_id` that nobody has numbered yet, after event `after`, up to `limit_rows` in id order.
select event_id from noetl.event
where execution_id = :execution_id::bigint and stream_version is null and event_id > :after::bigint
order by event_id
limit :limit_rows::int;

-- name: event_numbered_ids(execution_id, after_version, limit_rows)
-- Events of execution `execution_id` numbered after `after_version`, up to `limit_rows`, in that order.
select event_id, stream_version from noetl.event
where execution_id = :execution_id::bigint and stream_version > :after_version::bigint
order by stream_version
limit :limit_rows::int;

-- name: event_whole(execution_id, event_ids)
-- Every column of the events `event_ids` of execution `execution_id`, in the order given. JSON as text: what is exported
-- keeps every digit.
select
  e.event_id, e.execution_id, e.stream_version, e.catalog_id, e.parent_event_id, e.parent_execution_id, e.prev_event_id,
  e.event_type, e.node_id, e.node_name, e.node_type, e.status, e.worker_id, e.duration, e.created_at::text as created_at,
  e.event_time::text as event_time, e.ingest_time::text as ingest_time, e.context::text as context,
  e.result::text as result, e.meta::text as meta, e.trace_component::text as trace_component, e.error, e.stack_trace,
  e.tenant_id, e.organization_id, e.stage_id, e.frame_id, e.command_id, e.payload_ref::text as payload_ref,
  e.aggregate_id, e.aggregate_type, e.schema_name, e.schema_version, e.stream_id, e.producer, e.causation_id,
  e.correlation_id, e.idempotency_key, e.current_index, e.current_item, e.distributed_state, e.context_key,
  e.context_value, e.envelope_checksum, e.sealed
from unnest(:event_ids::bigint[]) with ordinality as given (event_id, position)
join noetl.event e on e.execution_id = :execution_id::bigint and e.event_id = given.event_id
order by given.position;

-- name: event_bytes(execution_id, event_id)
-- About how many bytes event `event_id` of execution `execution_id` has as text.
select coalesce(octet_length(context::text), 0)::bigint + coalesce(octet_length(result::text), 0) + coalesce(octet_length(meta::text), 0)
  + coalesce(octet_length(error), 0) + coalesce(octet_length(stack_trace), 0) as bytes
from noetl.event where execution_id = :execution_id::bigint and event_id = :event_id::bigint;

-- name: event_restore(execution_ids, event_ids, event_times, ingest_times, is_wholes, lines)
-- The columns of imported events that appending does not write, or not as they were: executions `execution_ids`, events
-- `event_ids`, times of the events `event_times` and of their arrival `ingest_times`, their `lines`. JSON is read from
-- the line, with every digit, unless a secret was taken out just now (`is_wholes` false).
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
from unnest(:execution_ids::bigint[], :event_ids::bigint[], :event_times::timestamptz[], :ingest_times::timestamptz[], :is_wholes::boolean[], :lines::text[])
  as given (execution_id, event_id, event_time, ingest_time, is_whole, line)
cross join lateral (select given.line::jsonb as said) as line
where e.execution_id = given.execution_id and e.event_id = given.event_id;
