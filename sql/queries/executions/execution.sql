-- name: execution_lock(execution_ids)
-- Locks the executions `execution_ids` in a fixed order and reads what an append needs of them.
select
  execution_id, catalog_id, status, stream_version, event_count, last_event_id, last_event_type, last_node_name,
  last_node_event_id, start_event_id, terminal_event_id, tenant_id, organization_id, error, path, parent_execution_id,
  start_time::text as start_time, end_time::text as end_time, start_event_type, engine, labels is not null as is_labelled
from noetl.execution
where execution_id = any(:execution_ids::bigint[])
order by execution_id
for update;

-- part: LEFT_LOG(execution_id, stream_version, highest)
-- Execution `execution_id`, locked, if its log ends where it was left: at `stream_version`, and with event `highest`, whoever
-- writes to it.
(
  select stream_version from noetl.execution
  where execution_id = :execution_id::bigint and stream_version = :stream_version::bigint
  for update
) as expected
join lateral (
  select event_id from noetl.event where execution_id = :execution_id::bigint order by event_id desc limit 1
) as last on last.event_id = :highest::bigint;

-- name: execution_expect(LEFT_LOG)
-- Fails, by a division by zero, unless the log ends where it was left; otherwise nobody appends to it until the end.
select 1 / count(*) from :LEFT_LOG;

-- name: execution_expect_command(LEFT_LOG, key, status, attempt, worker_id, lease_token, data_attempt, error_attempt)
-- The same, and locks its command `key` and fails unless that is as it was left: `status`, `attempt`, `worker_id`, `lease_token`,
-- `data_attempt`, `error_attempt`.
select 1 / count(*)
from :LEFT_LOG
cross join lateral (
  select from noetl.command
  where execution_id = :execution_id::bigint and command_key = :key::text and status = :status::text and attempt = :attempt::int
    and worker_id is not distinct from :worker_id::text and coalesce(lease_token, 0) = :lease_token::bigint
    and data_attempt = :data_attempt::int and error_attempt = :error_attempt::int
    -- After the lock of its execution, as everybody takes them. By its version: if the key of the partitions were compared with a
    -- column, all sixteen would be opened.
    and expected.stream_version = :stream_version::bigint
  for update
) as command;

-- name: execution_create(
--   execution_ids, catalog_ids, paths, parent_execution_ids, tenant_ids, organization_ids, engines, labels
-- )
-- Makes the executions `execution_ids` (ids) of catalog entries `catalog_ids` with `paths`, parents
-- `parent_execution_ids`, tenants `tenant_ids`, organisations `organization_ids`, driven by the engine of version
-- `engines`, with `labels` (JSON), unless they exist.
insert into noetl.execution (
  execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, engine, labels, status
)
select execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, engine, labels::jsonb, 'UNKNOWN'
from unnest(:execution_ids::bigint[], :catalog_ids::bigint[], :paths::text[], :parent_execution_ids::bigint[], :tenant_ids::text[], :organization_ids::text[], :engines::smallint[], :labels::text[])
  as given (execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, engine, labels)
order by execution_id
on conflict (execution_id) do nothing;

-- name: execution_label(execution_ids, labels)
-- The executions `execution_ids` get `labels` (JSON): their start came after the first news of them.
update noetl.execution x set labels = given.labels::jsonb
from unnest(:execution_ids::bigint[], :labels::text[]) as given (execution_id, labels)
where x.execution_id = given.execution_id;

-- name: execution_drive(execution_id, engine)
-- From now on the engine of version `engine` decides for execution `execution_id`.
update noetl.execution set engine = :engine::smallint where execution_id = :execution_id::bigint;

-- name: execution_footing(execution_id, start_event_id, step_types)
-- What an engine would have to go on from: the version of the engine that the start `start_event_id` of execution
-- `execution_id` was written for, and the first of its events that tells of a step (types `step_types`).
select
  (select s.meta ->> 'engine' from noetl.event s
    where s.execution_id = :execution_id::bigint and s.event_id = :start_event_id::bigint and s.meta ? 'emitter'
    limit 1) as engine,
  (select concat(e.event_type, ' of ', e.node_name) from noetl.event e
    where e.execution_id = :execution_id::bigint and e.event_type = any(:step_types::text[]) and e.node_name <> ''
    order by e.stream_version
    limit 1) as begun;

-- part: READ_MODEL
set
  stream_version = given.stream_version,
  event_count = given.event_count,
  status = given.status,
  last_event_id = given.last_event_id,
  last_event_type = given.last_event_type,
  last_node_name = given.last_node_name,
  last_node_event_id = given.last_node_event_id,
  start_event_id = given.start_event_id,
  start_event_type = given.start_event_type,
  terminal_event_id = given.terminal_event_id,
  start_time = given.start_time,
  end_time = given.end_time,
  error = given.error,
  catalog_id = given.catalog_id,
  path = given.path,
  parent_execution_id = given.parent_execution_id,
  tenant_id = given.tenant_id,
  organization_id = given.organization_id,
  updated_at = now();

-- name: execution_update(
--   execution_ids, stream_versions, event_counts, status, last_event_ids, last_event_types, last_node_names,
--   last_node_event_ids, start_event_ids, terminal_event_ids, start_times, end_times, errors, catalog_ids, paths,
--   parent_execution_ids, tenant_ids, organization_ids, start_event_types
-- )
-- Writes the read model of locked executions: one array per column, `execution_ids` are the ids.
update noetl.execution x
:READ_MODEL
from unnest(
  :execution_ids::bigint[], :stream_versions::bigint[], :event_counts::bigint[], :status::text[], :last_event_ids::bigint[], :last_event_types::text[], :last_node_names::text[], :last_node_event_ids::bigint[],
  :start_event_ids::bigint[], :terminal_event_ids::bigint[], :start_times::timestamptz[], :end_times::timestamptz[], :errors::text[], :catalog_ids::bigint[], :paths::text[], :parent_execution_ids::bigint[],
  :tenant_ids::text[], :organization_ids::text[], :start_event_types::text[]
) as given (
  execution_id, stream_version, event_count, status, last_event_id, last_event_type, last_node_name, last_node_event_id,
  start_event_id, terminal_event_id, start_time, end_time, error, catalog_id, path, parent_execution_id,
  tenant_id, organization_id, start_event_type
)
where x.execution_id = given.execution_id;

-- name: execution_update_one(
--   execution_id, stream_version, event_count, status, last_event_id, last_event_type, last_node_name,
--   last_node_event_id, start_event_id, terminal_event_id, start_time, end_time, error, catalog_id, path,
--   parent_execution_id, tenant_id, organization_id, start_event_type
-- )
-- The same for one execution.
update noetl.execution x
:READ_MODEL
from (
  select :stream_version::bigint as stream_version, :event_count::bigint as event_count, :status::text as status,
    :last_event_id::bigint as last_event_id, :last_event_type::text as last_event_type, :last_node_name::text as last_node_name,
    :last_node_event_id::bigint as last_node_event_id, :start_event_id::bigint as start_event_id,
    :terminal_event_id::bigint as terminal_event_id, :start_time::timestamptz as start_time, :end_time::timestamptz as end_time,
    :error::text as error, :catalog_id::bigint as catalog_id, :path::text as path,
    :parent_execution_id::bigint as parent_execution_id, :tenant_id::text as tenant_id,
    :organization_id::text as organization_id, :start_event_type::text as start_event_type
) as given
where x.execution_id = :execution_id::bigint;

-- part: EXECUTION_ROW
execution_id, catalog_id, path, parent_execution_id, status, last_event_type, last_node_name, last_event_id,
  start_time::text as start_time, end_time::text as end_time, error, tenant_id, organization_id, stream_version,
  event_count, start_event_id, terminal_event_id, start_event_type, updated_at::text as updated_at, engine, labels;

-- name: execution_get(execution_id)
-- One execution of the read model.
select
  :EXECUTION_ROW
from noetl.execution
where execution_id = :execution_id::bigint;

-- part: EXECUTION_INDEXED(status, statuses, catalog_id, path_pattern, since, until, parent_execution_id, labels, worker_id)
-- Which executions, as far as an index or the order of the list finds them: `status` or `statuses`, catalog `catalog_id`,
-- path pattern `path_pattern` (LIKE), `since`, `until`, parent `parent_execution_id`, all of `labels` (JSON), a command held
-- by worker `worker_id`. Without a start time the time of the first news counts. A subscription, which its start event
-- tells, is no execution though it is kept like one.
coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
  and (:status::text is null or status = :status)
  and (:statuses::text[] is null or status = any(:statuses))
  and (:catalog_id::bigint is null or catalog_id = :catalog_id)
  and (:path_pattern::text is null or path like :path_pattern)
  and (:since::timestamptz is null or coalesce(start_time, created_at) >= :since)
  and (:until::timestamptz is null or coalesce(start_time, created_at) < :until)
  and (:parent_execution_id::bigint is null or parent_execution_id = :parent_execution_id)
  and (:labels::jsonb is null or labels @> :labels)
  and (:worker_id::text is null
    or execution_id = any(array(select distinct c.execution_id from noetl.command c where c.worker_id = :worker_id)));

-- part: EXECUTION_LOOKED(step, tenant_id, seconds_min, seconds_max, text_pattern, text_id, text_worker)
-- What each row must be looked at for, since an index would cost every event: the `step` it is at, `tenant_id`, how long it
-- lasts between `seconds_min` and `seconds_max`, `text_pattern` (LIKE) in path, step or error, an id that is `text_id`, or a
-- command held by worker `text_worker`.
(:step::text is null or last_node_name = :step)
  and (:tenant_id::text is null or tenant_id = :tenant_id)
  and (:seconds_min::double precision is null or extract(epoch from coalesce(end_time, now()) - start_time) >= :seconds_min)
  and (:seconds_max::double precision is null or extract(epoch from coalesce(end_time, now()) - start_time) <= :seconds_max)
  and ((:text_pattern::text is null and :text_id::bigint is null)
    or path ilike :text_pattern or last_node_name ilike :text_pattern or error ilike :text_pattern
    or execution_id = :text_id or parent_execution_id = :text_id or catalog_id = :text_id
    or execution_id in (select c.execution_id from noetl.command c where c.worker_id = :text_worker::text));

-- name: execution_list(
--   EXECUTION_INDEXED, EXECUTION_LOOKED, start_time, execution_id, end_time, end_execution_id, limit_rows
-- )
-- A page of the executions that the filters let through, newest first. Starts after the position (`start_time` time,
-- `execution_id` id) and goes no further than (`end_time`, `end_execution_id`); at most `limit_rows` rows.
-- plan: each time
select
  :EXECUTION_ROW,
  coalesce(start_time, created_at)::text as listed_at
from noetl.execution
where :EXECUTION_INDEXED
  and :EXECUTION_LOOKED
  and (:start_time::timestamptz is null or (coalesce(start_time, created_at), execution_id) < (:start_time::timestamptz, :execution_id::bigint))
  and (:end_time::timestamptz is null or (coalesce(start_time, created_at), execution_id) >= (:end_time::timestamptz, :end_execution_id::bigint))
order by coalesce(start_time, created_at) desc, execution_id desc
limit :limit_rows::int;

-- name: execution_looked(EXECUTION_INDEXED, start_time, execution_id, looked_max)
-- The last of the newest `looked_max` executions that indexes find after the position (`start_time`, `execution_id`).
-- plan: each time
select coalesce(start_time, created_at)::text as listed_at, execution_id
from noetl.execution
where :EXECUTION_INDEXED
  and (:start_time::timestamptz is null or (coalesce(start_time, created_at), execution_id) < (:start_time::timestamptz, :execution_id::bigint))
order by coalesce(start_time, created_at) desc, execution_id desc
offset :looked_max::int - 1
limit 1;

-- name: execution_list_oldest(
--   EXECUTION_INDEXED, EXECUTION_LOOKED, start_time, execution_id, end_time, end_execution_id, limit_rows
-- )
-- A page of the executions that the filters let through, oldest first. Starts after the position (`start_time` time,
-- `execution_id` id) and goes no further than (`end_time`, `end_execution_id`); at most `limit_rows` rows.
-- plan: each time
select
  :EXECUTION_ROW,
  coalesce(start_time, created_at)::text as listed_at
from noetl.execution
where :EXECUTION_INDEXED
  and :EXECUTION_LOOKED
  and (:start_time::timestamptz is null or (coalesce(start_time, created_at), execution_id) > (:start_time::timestamptz, :execution_id::bigint))
  and (:end_time::timestamptz is null or (coalesce(start_time, created_at), execution_id) <= (:end_time::timestamptz, :end_execution_id::bigint))
order by coalesce(start_time, created_at), execution_id
limit :limit_rows::int;

-- name: execution_looked_oldest(EXECUTION_INDEXED, start_time, execution_id, looked_max)
-- The last of the oldest `looked_max` executions that indexes find after the position (`start_time`, `execution_id`).
-- plan: each time
select coalesce(start_time, created_at)::text as listed_at, execution_id
from noetl.execution
where :EXECUTION_INDEXED
  and (:start_time::timestamptz is null or (coalesce(start_time, created_at), execution_id) > (:start_time::timestamptz, :execution_id::bigint))
order by coalesce(start_time, created_at), execution_id
offset :looked_max::int - 1
limit 1;

-- name: execution_known(text_id)
-- Whether `text_id` is the id of an execution, of a parent or of a catalog entry that was run.
select exists (
  select 1 from noetl.execution
  where execution_id = :text_id::bigint or parent_execution_id = :text_id or catalog_id = :text_id
) as is_known;

-- name: execution_histogram(EXECUTION_INDEXED, EXECUTION_LOOKED, buckets, counted_max)
-- How many executions that the filters let through began in each of `buckets` equal spans between `since` and `until`,
-- by status: among the newest `counted_max` or so that indexes find, so that no more of a long history is read. Where there
-- are more, the spans begin with the oldest of those (`counted_since`).
-- plan: each time
with newest as materialized (
  select coalesce(start_time, created_at) as began, status, :EXECUTION_LOOKED as is_counted
  from noetl.execution
  where :EXECUTION_INDEXED
  order by coalesce(start_time, created_at) desc, execution_id desc
  limit :counted_max::int + 1
), range as (
  select case when count(*) > :counted_max then min(began) else :since::timestamptz end as since from newest
)
select width_bucket(
    date_part('epoch', began), date_part('epoch', range.since), date_part('epoch', :until::timestamptz), :buckets::int
  ) - 1 as bucket, status, (count(*) filter (where is_counted))::int as count,
  case when range.since > :since::timestamptz then range.since::text end as counted_since
from newest cross join range
group by 1, 2, 4;

-- name: execution_oldest
-- When the first execution began.
select coalesce(start_time, created_at)::text as listed_at from noetl.execution
where coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
order by coalesce(start_time, created_at), execution_id
limit 1;

-- name: execution_origin(execution_id)
-- Where execution `execution_id` comes from.
select catalog_id, path, parent_execution_id, created_at::text as created_at
from noetl.execution
where execution_id = :execution_id::bigint;

-- name: execution_nearest(execution_id, limit_rows)
-- Executions with ids next to `execution_id`, at most `limit_rows` on either side.
(
  select execution_id, path, status, created_at::text as created_at from noetl.execution
  where execution_id < :execution_id::bigint
    and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
  order by execution_id desc
  limit :limit_rows::int
)
union all
(
  select execution_id, path, status, created_at::text as created_at from noetl.execution
  where execution_id > :execution_id::bigint
    and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
  order by execution_id
  limit :limit_rows::int
);

-- name: execution_children(parents, after, limit_rows)
-- Children of the executions `parents` with ids `after`, in order, at most `limit_rows`; also those that have ended.
select execution_id, status from noetl.execution
where parent_execution_id = any(:parents::bigint[]) and execution_id > :after::bigint
order by execution_id
limit :limit_rows::int;

-- name: execution_stale(started_before, limit_rows)
-- Executions that began before `started_before` and have not ended, oldest first, at most `limit_rows`.
select execution_id from noetl.execution
where status not in (:TERMINAL_STATUSES)
  and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
  and coalesce(start_time, created_at) < :started_before::timestamptz
order by coalesce(start_time, created_at), execution_id
limit :limit_rows::int;

-- name: execution_counts(counted_max)
-- How many executions there are of each status: counted up to `counted_max`, beyond that as the server estimates them.
-- Statuses are found by hopping through the index, so the history is never read as a whole.
with recursive found as (
  (select status from noetl.execution order by status limit 1)
  union all
  select (select next.status from noetl.execution as next where next.status > found.status order by next.status limit 1)
  from found where found.status is not null
), sampled as (
  select value, share
  from pg_stats, unnest(most_common_vals::text::text[], most_common_freqs) as common (value, share)
  where schemaname = 'noetl' and tablename = 'execution' and attname = 'status'
)
select found.status, counted.n::bigint as counted,
  greatest(counted.n, (
    select table_size.reltuples * sampled.share from sampled, pg_class as table_size
    where sampled.value = found.status and table_size.oid = 'noetl.execution'::regclass
  ))::bigint as about
from found cross join lateral (
  select count(*) as n from (
    select 1 from noetl.execution as one
    where one.status = found.status
      and coalesce(one.start_event_type, '') not in ('subscription.registered', 'subscription_registered')
    -- The order of the index: without it a few among millions would be looked for in the table itself.
    order by coalesce(one.start_time, one.created_at) desc
    limit :counted_max::int
  ) as first_ones
) as counted
where counted.n > 0;
