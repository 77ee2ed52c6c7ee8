-- name: event_existing
-- Which of the events ($1 execution ids, $2 event ids) are there already, and what they say.
select e.execution_id, e.event_id, e.stream_version, e.envelope_checksum, e.catalog_id, e.parent_event_id, e.parent_execution_id,
  e.event_type, e.node_id, e.node_name, e.node_type, e.status, e.worker_id, e.duration, e.context, e.result, e.meta,
  e.error, e.stack_trace, e.tenant_id, e.organization_id, e.created_at::text as created_at
from unnest($1::bigint[], $2::bigint[]) as given (execution_id, event_id)
join noetl.event e on e.execution_id = given.execution_id and e.event_id = given.event_id;

-- name: event_claims
-- Earlier claims of the commands ($1 execution ids, $2 command ids).
select e.execution_id, e.meta ->> 'command_id' as command_id, e.event_id, e.worker_id
from unnest($1::bigint[], $2::text[]) as given (execution_id, command_id)
join noetl.event e
  on e.execution_id = given.execution_id and e.event_type in ('command.claimed', 'command_claimed')
    and md5(e.meta ->> 'command_id') = md5(given.command_id)
order by e.event_id desc;

-- name: event_highest
-- The highest event id of each of the executions $1 in the log, whoever wrote it: one step in the index for each.
select given.execution_id, e.event_id
from unnest($1::bigint[]) as given (execution_id)
cross join lateral (
  select event_id from noetl.event where execution_id = given.execution_id order by event_id desc limit 1
) e;

-- name: event_move
-- Events of the executions $1 that were stored before anybody said whose they are: tenants $2, organisations $3. The
-- checksum said the assumed ones; without it the columns are compared.
update noetl.event e
set tenant_id = given.tenant_id, organization_id = given.organization_id, envelope_checksum = null
from unnest($1::bigint[], $2::text[], $3::text[]) as given (execution_id, tenant_id, organization_id)
where e.execution_id = given.execution_id
  and (e.tenant_id, e.organization_id) is distinct from (given.tenant_id, given.organization_id);

-- name: event_insert
-- Appends events: one array per column, JSON columns ($15 context, $16 result, $17 meta) as one JSON array each. The lock
-- of their executions is held: by the time they came in they are in the order of their versions, and all are of one moment.
insert into noetl.event (
  execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, created_at, event_time,
  event_type, node_id, node_name, node_type, status, worker_id, duration, context, result, meta, error, stack_trace,
  tenant_id, organization_id, stream_version, envelope_checksum, sealed, ingest_time
)
select
  execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id,
  at_time at time zone 'utc', at_time,
  event_type, node_id, node_name, node_type, status, worker_id, duration,
  nullif(context, 'null'), nullif(result, 'null'), nullif(meta, 'null'), error, stack_trace,
  tenant_id, organization_id, stream_version, envelope_checksum, sealed, (select clock_timestamp())
from rows from (
  unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::timestamptz[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::double precision[],
    $18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[], $23::text[], $24::text[]
  ),
  jsonb_array_elements($15::jsonb),
  jsonb_array_elements($16::jsonb),
  jsonb_array_elements($17::jsonb)
) as given (
  execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, at_time, event_type,
  node_id, node_name, node_type, status, worker_id, duration,
  error, stack_trace, tenant_id, organization_id, stream_version, envelope_checksum, sealed, context, result, meta
);

-- name: event_unadopted
-- Rows of execution $1 that others wrote and nobody has numbered yet, at most $2, in id order.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, event_type, node_id, node_name, node_type,
  status, worker_id, context, result, meta, error, stack_trace, tenant_id, organization_id, created_at::text as created_at
from noetl.event
where execution_id = $1::bigint and stream_version is null
order by event_id
limit $2::int;

-- name: event_unadopted_executions
-- Executions with such rows after $1 in id order, at most $2. A leap from one to the next, however many rows each has.
with recursive found as (
  (select execution_id from noetl.event where stream_version is null and execution_id > $1::bigint order by execution_id limit 1)
  union all
  select (
    select e.execution_id from noetl.event e
    where e.stream_version is null and e.execution_id > found.execution_id order by e.execution_id limit 1
  )
  from found where found.execution_id is not null
)
select execution_id from found where execution_id is not null limit $2::int;

-- name: event_number
-- Numbers the rows $2 of execution $1 with the versions $3, unless somebody was faster.
update noetl.event e
set stream_version = given.stream_version
from unnest($2::bigint[], $3::bigint[]) as given (event_id, stream_version)
where e.execution_id = $1::bigint and e.event_id = given.event_id and e.stream_version is null;

-- name: event_latest
-- The last $2 events of execution $1, newest first, without their contexts. A column above $3 bytes is left out, and so are
-- those of older events once $4 bytes are reached; `left_out` names them. What is stored beyond these sizes is not even read.
with page as materialized (
  select event_id, event_type, node_name, status, created_at, result, error,
    sum(case when pg_column_size(result) <= $3::int then pg_column_size(result) else 0 end
      + case when octet_length(error) <= $3::int then octet_length(error) else 0 end)
      over (order by event_id desc rows unbounded preceding) <= $4::bigint as is_near
  from noetl.event
  where execution_id = $1::bigint
  order by event_id desc
  limit $2::int
),
texts as materialized (
  select *,
    case when is_near and pg_column_size(result) <= $3::int then result::text end as result_text,
    case when is_near and octet_length(error) <= $3::int then error end as error_text
  from page
),
fitting as (
  select *,
    sum(case when octet_length(result_text) <= $3::int then octet_length(result_text) else 0 end + coalesce(octet_length(error_text), 0))
      over (order by event_id desc rows unbounded preceding) <= $4::bigint as fits
  from texts
),
shown as (
  select *,
    fits and octet_length(result_text) <= $3::int as has_result,
    fits and error_text is not null as has_error
  from fitting
)
select event_id, event_type, node_name, status, created_at::text as created_at,
  case when has_result then result_text end::json as result,
  case when has_error then error_text end as error,
  array_remove(array[
    case when result is not null and has_result is not true then 'result' end,
    case when error is not null and has_error is not true then 'error' end
  ], null) as left_out
from shown
order by event_id desc;

-- name: event_start
-- The workload in the context of event $2 that started execution $1, as text; `left_out` if it has more than $3 bytes.
select case when octet_length(workload) <= $3::int then workload end as workload, coalesce(octet_length(workload) > $3::int, false) or is_far as left_out
from (
  select pg_column_size(context) > $3::int as is_far,
    case when pg_column_size(context) <= $3::int then (context -> 'workload')::text end as workload
  from noetl.event where execution_id = $1::bigint and event_id = $2::bigint
) as started;

-- name: event_step_ranks
-- How far each step of execution $1 has come by the events after version $2, and apart from them by those without a
-- version: 3 completed (types $3), 2 failed (types $4), 1 running. What belongs to no step is under null. Besides, without a rank, which event
-- has version $2 and which has the highest: whoever remembers what came before learns whether that is still the log.
with fresh as (
  select node_name, event_type, true as is_numbered from noetl.event
  where execution_id = $1::bigint and stream_version > $2::bigint
  union all
  select node_name, event_type, false from noetl.event
  where execution_id = $1::bigint and stream_version is null
)
select
  case when event_type ~ '^(step|command|action)[._]' then node_name end as node_name,
  max(case
    when event_type = any($3::text[]) then 3
    when event_type = any($4::text[]) then 2
    else 1 end)::int as rank,
  is_numbered, null as stream_version, null as mark
from fresh
group by 1, 3
union all
select null, null, true, stream_version, concat(event_id, ' ', ingest_time)
from noetl.event
where execution_id = $1::bigint and stream_version in (
  $2::bigint,
  (select max(stream_version) from noetl.event where execution_id = $1::bigint and stream_version is not null)
);

-- name: event_last_of
-- The newest event of execution $1 of one of the types $2 with one of the statuses $3, of step $4 unless that is null: what it
-- says, as JSON text.
select event_id::text as event_id, event_type, status,
  json_build_object('context', context, 'result', result, 'meta', meta)::text as said
from noetl.event
where execution_id = $1::bigint and event_type = any($2::text[]) and status = any($3::text[])
  and ($4::text is null or node_name = $4::text)
order by event_id desc
limit 1;

-- name: event_said
-- What event $2 of execution $1 says, as JSON text.
select json_build_object('context', context, 'result', result, 'meta', meta)::text as said
from noetl.event
where execution_id = $1::bigint and event_id = $2::bigint;
