-- name: event_existing(execution_ids, event_ids)
-- Which of the events (`execution_ids` execution ids, `event_ids` event ids) are there already, and what they say. One that
-- has a checksum and parts of more than 64 KB is judged by the checksum alone: `is_large`, and the parts stay where they are.
select e.execution_id, e.event_id, e.stream_version, e.envelope_checksum, e.catalog_id, e.parent_event_id, e.parent_execution_id,
  e.event_type, e.node_id, e.node_name, e.node_type, e.status, e.worker_id, e.duration, size.is_large,
  case when not size.is_large then e.context end as context, case when not size.is_large then e.result end as result,
  case when not size.is_large then e.meta end as meta,
  e.error, e.stack_trace, e.tenant_id, e.organization_id, e.created_at::text as created_at
from unnest(:execution_ids::bigint[], :event_ids::bigint[]) as given (execution_id, event_id)
join noetl.event e on e.execution_id = given.execution_id and e.event_id = given.event_id
cross join lateral (
  select e.envelope_checksum is not null
    and coalesce(pg_column_size(e.context), 0) + coalesce(pg_column_size(e.result), 0) + coalesce(pg_column_size(e.meta), 0) > 65536 as is_large
) as size;

-- name: event_claims(execution_ids, command_ids)
-- Earlier claims of the commands (`execution_ids` execution ids, `command_ids` command ids).
select e.execution_id, e.meta ->> 'command_id' as command_id, e.event_id, e.worker_id
from unnest(:execution_ids::bigint[], :command_ids::text[]) as given (execution_id, command_id)
join noetl.event e
  on e.execution_id = given.execution_id and e.event_type in ('command.claimed', 'command_claimed')
    and md5(e.meta ->> 'command_id') = md5(given.command_id)
order by e.event_id desc;

-- name: event_highest(execution_ids)
-- The highest event id of each of the executions `execution_ids` in the log, whoever wrote it: one step in the index for
-- each.
select given.execution_id, e.event_id
from unnest(:execution_ids::bigint[]) as given (execution_id)
cross join lateral (
  select event_id from noetl.event where execution_id = given.execution_id order by event_id desc limit 1
) e;

-- name: event_move(execution_ids, tenant_ids, organization_ids)
-- Events of the executions `execution_ids` that were stored before anybody said whose they are: tenants `tenant_ids`,
-- organisations `organization_ids`. The checksum said the assumed ones; without it the columns are compared.
update noetl.event e
set tenant_id = given.tenant_id, organization_id = given.organization_id, envelope_checksum = null
from unnest(:execution_ids::bigint[], :tenant_ids::text[], :organization_ids::text[]) as given (execution_id, tenant_id, organization_id)
where e.execution_id = given.execution_id
  and (e.tenant_id, e.organization_id) is distinct from (given.tenant_id, given.organization_id);

-- name: event_publish(
--   execution_ids, event_ids, catalog_ids, parent_event_ids, parent_execution_ids, prev_event_ids, created_ats,
--   event_types, node_ids, node_names, node_types, statuses, worker_ids, durations,
--   errors, stack_traces, tenant_ids, organization_ids, stream_versions, checksums, sealed_texts, payloads, subjects, traces
-- )
-- Appends events and their outbox rows: one array per column, the envelopes `payloads` as one JSON array, which the JSON columns
-- are taken from: their text is read once for both. The lock of their executions is held: by the time they came in they are in
-- the order of their versions, and all are of one moment.
with given as materialized (
  select *
  from rows from (
    unnest(
      :execution_ids::bigint[], :event_ids::bigint[], :catalog_ids::bigint[], :parent_event_ids::bigint[], :parent_execution_ids::bigint[], :prev_event_ids::bigint[], :created_ats::timestamptz[], :event_types::text[],
      :node_ids::text[], :node_names::text[], :node_types::text[], :statuses::text[], :worker_ids::text[], :durations::double precision[],
      :errors::text[], :stack_traces::text[], :tenant_ids::text[], :organization_ids::text[], :stream_versions::bigint[], :checksums::text[], :sealed_texts::text[],
      :subjects::text[], :traces::text[]
    ),
    jsonb_array_elements(:payloads::jsonb)
  ) with ordinality as one (
    execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, at_time, event_type,
    node_id, node_name, node_type, status, worker_id, duration,
    error, stack_trace, tenant_id, organization_id, stream_version, envelope_checksum, sealed, subject, trace, payload, position
  )
), logged as (
  insert into noetl.event (
    execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, created_at, event_time,
    event_type, node_id, node_name, node_type, status, worker_id, duration, context, result, meta, error, stack_trace,
    tenant_id, organization_id, stream_version, envelope_checksum, sealed, ingest_time
  )
  select
    execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id,
    at_time at time zone 'utc', at_time,
    event_type, node_id, node_name, node_type, status, worker_id, duration,
    nullif(payload -> 'context', 'null'), nullif(payload -> 'result', 'null'), nullif(payload -> 'meta', 'null'), error, stack_trace,
    tenant_id, organization_id, stream_version, envelope_checksum, sealed, (select clock_timestamp())
  from given
)
insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, trace)
select execution_id, event_id, subject, payload, 'json', trace::jsonb
from given
order by position;

-- name: event_insert(
--   execution_ids, event_ids, catalog_ids, parent_event_ids, parent_execution_ids, prev_event_ids, created_ats,
--   event_types, node_ids, node_names, node_types, statuses, worker_ids, durations,
--   errors, stack_traces, tenant_ids, organization_ids, stream_versions, checksums, sealed_texts, contexts, results, metas
-- )
-- Appends events that are not to be published: one array per column, JSON columns (`contexts` context, `results` result, `metas`
-- meta) as one JSON array each. The lock of their executions is held: by the time they came in they are in the order of their
-- versions, and all are of one moment.
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
    :execution_ids::bigint[], :event_ids::bigint[], :catalog_ids::bigint[], :parent_event_ids::bigint[], :parent_execution_ids::bigint[], :prev_event_ids::bigint[], :created_ats::timestamptz[], :event_types::text[],
    :node_ids::text[], :node_names::text[], :node_types::text[], :statuses::text[], :worker_ids::text[], :durations::double precision[],
    :errors::text[], :stack_traces::text[], :tenant_ids::text[], :organization_ids::text[], :stream_versions::bigint[], :checksums::text[], :sealed_texts::text[]
  ),
  jsonb_array_elements(:contexts::jsonb),
  jsonb_array_elements(:results::jsonb),
  jsonb_array_elements(:metas::jsonb)
) as given (
  execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, at_time, event_type,
  node_id, node_name, node_type, status, worker_id, duration,
  error, stack_trace, tenant_id, organization_id, stream_version, envelope_checksum, sealed, context, result, meta
);

-- name: event_unadopted(execution_id, limit_rows)
-- Rows of execution `execution_id` that others wrote and nobody has numbered yet, at most `limit_rows`, in id order.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, event_type, node_id, node_name, node_type,
  status, worker_id, context, result, meta, error, stack_trace, tenant_id, organization_id, created_at::text as created_at
from noetl.event
where execution_id = :execution_id::bigint and stream_version is null
order by event_id
limit :limit_rows::int;

-- name: event_unadopted_executions(after, limit_rows)
-- Executions with such rows `after` in id order, at most `limit_rows`. A leap from one to the next, however many rows
-- each has.
with recursive found as (
  (select execution_id from noetl.event where stream_version is null and execution_id > :after::bigint order by execution_id limit 1)
  union all
  select (
    select e.execution_id from noetl.event e
    where e.stream_version is null and e.execution_id > found.execution_id order by e.execution_id limit 1
  )
  from found where found.execution_id is not null
)
select execution_id from found where execution_id is not null limit :limit_rows::int;

-- name: event_number(execution_id, event_ids, versions)
-- Numbers the rows `event_ids` of execution `execution_id` with the `versions`, unless somebody was faster.
update noetl.event e
set stream_version = given.stream_version
from unnest(:event_ids::bigint[], :versions::bigint[]) as given (event_id, stream_version)
where e.execution_id = :execution_id::bigint and e.event_id = given.event_id and e.stream_version is null;

-- name: event_latest(execution_id, limit_rows, column_bytes, page_bytes, offset_rows, since_event_id, event_type)
-- `limit_rows` events of execution `execution_id` after the newest `offset_rows`, newest first; those after
-- `since_event_id` and of `event_type` alone, where these are given. A column above `column_bytes` bytes is left out, and
-- so are those of older events once `page_bytes` bytes are reached; `left_out` names them. What is stored beyond these
-- sizes is not even read.
-- plan: each time
with page as materialized (
  select event_id, event_type, node_id, node_name, status, created_at, catalog_id, parent_execution_id, parent_event_id, duration,
    context, result, error,
    sum(case when pg_column_size(result) <= :column_bytes::int then pg_column_size(result) else 0 end
      + case when pg_column_size(context) <= :column_bytes::int then pg_column_size(context) else 0 end
      + case when octet_length(error) <= :column_bytes::int then octet_length(error) else 0 end)
      over (order by event_id desc rows unbounded preceding) <= :page_bytes::bigint as is_near
  from noetl.event
  where execution_id = :execution_id::bigint
    and (:since_event_id::bigint is null or event_id > :since_event_id::bigint)
    and (:event_type::text is null or event_type = :event_type::text)
  order by event_id desc
  limit :limit_rows::int offset :offset_rows::int
),
texts as materialized (
  select *,
    case when is_near and pg_column_size(context) <= :column_bytes::int then context::text end as context_text,
    case when is_near and pg_column_size(result) <= :column_bytes::int then result::text end as result_text,
    case when is_near and octet_length(error) <= :column_bytes::int then error end as error_text
  from page
),
fitting as (
  select *,
    sum(case when octet_length(result_text) <= :column_bytes::int then octet_length(result_text) else 0 end
      + case when octet_length(context_text) <= :column_bytes::int then octet_length(context_text) else 0 end
      + coalesce(octet_length(error_text), 0))
      over (order by event_id desc rows unbounded preceding) <= :page_bytes::bigint as fits
  from texts
),
shown as (
  select *,
    fits and octet_length(context_text) <= :column_bytes::int as has_context,
    fits and octet_length(result_text) <= :column_bytes::int as has_result,
    fits and error_text is not null as has_error
  from fitting
)
select event_id, event_type, node_id, node_name, status, created_at::text as created_at, catalog_id, parent_execution_id,
  parent_event_id, duration,
  case when has_context then context_text end::json as context,
  case when has_result then result_text end::json as result,
  case when has_error then error_text end as error,
  to_json(array_remove(array[
    case when context is not null and has_context is not true then 'context' end,
    case when result is not null and has_result is not true then 'result' end,
    case when error is not null and has_error is not true then 'error' end
  ], null)) as left_out
from shown
order by event_id desc;

-- name: event_count(execution_id, since_event_id, event_type)
-- How many events execution `execution_id` has, those after `since_event_id` and of `event_type` alone if given.
select count(*)::int as count from noetl.event
where execution_id = :execution_id::bigint
  and (:since_event_id::bigint is null or event_id > :since_event_id::bigint)
  and (:event_type::text is null or event_type = :event_type::text);

-- name: event_results(execution_ids, event_ids, column_bytes)
-- The results of the events `event_ids`, one of each of the executions `execution_ids`; `left_out` if one has more than
-- `column_bytes` bytes.
select execution_id, event_id,
  case when is_near and octet_length(result::text) <= :column_bytes::int then result end as result,
  case when is_near then octet_length(result::text) > :column_bytes::int else result is not null end as left_out
from (
  select e.execution_id, e.event_id, e.result, pg_column_size(e.result) <= :column_bytes::int as is_near
  from unnest(:execution_ids::bigint[], :event_ids::bigint[]) as wanted (execution_id, event_id)
  join noetl.event e on e.execution_id = wanted.execution_id and e.event_id = wanted.event_id
) as found;

-- name: event_start(execution_id, event_id, column_bytes)
-- The workload in the context of event `event_id` that started execution `execution_id`, as text; `left_out` if it has
-- more than `column_bytes` bytes.
select case when octet_length(workload) <= :column_bytes::int then workload end as workload, coalesce(octet_length(workload) > :column_bytes::int, false) or is_far as left_out
from (
  select pg_column_size(context) > :column_bytes::int as is_far,
    case when pg_column_size(context) <= :column_bytes::int then (context -> 'workload')::text end as workload
  from noetl.event where execution_id = :execution_id::bigint and event_id = :event_id::bigint
) as started;

-- name: event_step_ranks(execution_id, after_version, completed_types, failed_types, skipped_types)
-- How far each step of execution `execution_id` has come by the events after version `after_version`, and apart from
-- them by those without a version: 5 ended, 4 ended in a failure, 3 a command of it completed, 2 one failed, 1 running,
-- 0 not taken. Types `completed_types` complete, unless their status says that they failed, as types `failed_types` do.
-- What belongs to no step is under null. Besides, without a rank, what each of these events said about variables, and
-- which event has version `after_version` and which has the highest: whoever remembers what came before learns whether
-- that is still the log.
with fresh as (
  select node_name, event_type, event_id, status, true as is_numbered,
    case when event_type = 'ctx.updated' then context end as context
  from noetl.event
  where execution_id = :execution_id::bigint and stream_version > :after_version::bigint
  union all
  select node_name, event_type, event_id, status, false, case when event_type = 'ctx.updated' then context end
  from noetl.event
  where execution_id = :execution_id::bigint and stream_version is null
)
select
  case when event_type ~ '^(step|command|action)[._]' then node_name end as node_name,
  max(case
    when event_type = any(:skipped_types::text[]) then 0
    when event_type <> all(:completed_types::text[] || :failed_types::text[]) then 1
    else (case when event_type ~ '^step' then 2 else 0 end)
      + (case when event_type = any(:failed_types::text[]) or upper(status) in ('FAILED', 'ERROR') then 2 else 3 end)
    end)::int as rank,
  is_numbered, null::bigint as stream_version, null::text as mark, null::bigint as event_id, null::text as variables
from fresh
group by 1, 3
union all
select null, null, is_numbered, null, null, event_id,
  json_build_object('set', context -> 'vars', 'removed', context -> 'vars_removed')::text
from fresh
where context ?| array['vars', 'vars_removed']
union all
select null, null, true, stream_version, concat(event_id, ' ', ingest_time), null, null
from noetl.event
where execution_id = :execution_id::bigint and stream_version in (
  :after_version::bigint,
  (select max(stream_version) from noetl.event where execution_id = :execution_id::bigint and stream_version is not null)
);

-- name: event_last_of(execution_id, types, statuses, step)
-- The newest event of execution `execution_id` of one of the `types` with one of the `statuses`, of `step` unless that
-- is null: what it says, as JSON text.
select event_id::text as event_id, event_type, status,
  json_build_object('context', context, 'result', result, 'meta', meta)::text as said
from noetl.event
where execution_id = :execution_id::bigint and event_type = any(:types::text[]) and status = any(:statuses::text[])
  and (:step::text is null or node_name = :step::text)
order by event.event_id desc
limit 1;

-- name: event_answer(execution_id, event_id)
-- The result of event `event_id` of execution `execution_id`, as JSON text.
select result::text as result
from noetl.event
where execution_id = :execution_id::bigint and event_id = :event_id::bigint;
