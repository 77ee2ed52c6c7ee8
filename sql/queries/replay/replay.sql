-- name: replay_bound(execution_id, from_id, page_size)
-- Where the next page of execution `execution_id` starts: the id `page_size` rows after event `from_id`.
select event_id from noetl.event
where execution_id = :execution_id::bigint and event_id >= :from_id::bigint
order by event_id
offset :page_size::int
limit 1;

-- name: replay_page(execution_id, from_event_id, to_event_id, tenant_id, organization_id, as_of_time, as_of_version)
-- Events `from_event_id` to `to_event_id` of execution `execution_id` of tenant `tenant_id` and organisation
-- `organization_id` as the fold reads them, those that had come in by the time `as_of_time` and up to the version
-- `as_of_version` where given. Of a result only the reference counts, and only without a payload reference. Short
-- columns travel as one value, numbers and an array of words: a driver spends more on values than on their bytes, and
-- neighbours often carry the very same texts. Whole pages as one value cost the driver less still, but the server more, and it
-- sends nothing of a page before it has all of it: that was slower in all.
select concat(event_id, ';', stage_id, ',', frame_id, ',', command_id, ';',
    array[event_type, status, node_name, worker_id, aggregate_type, aggregate_id]) as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref
from noetl.event
where execution_id = :execution_id::bigint and event_id >= :from_event_id::bigint and event_id <= :to_event_id::bigint
  and tenant_id = :tenant_id::text and organization_id = :organization_id::text
  and (:as_of_time::timestamp is null or ingest_time <= :as_of_time::timestamp at time zone 'utc')
  and (:as_of_version::bigint is null or stream_version <= :as_of_version::bigint)
order by event_id;

-- name: replay_page_timed(
--   execution_id, from_event_id, to_event_id, tenant_id, organization_id, as_of_time, as_of_version
-- )
-- The same with the time of each event, for timelines.
select concat(event_id, ';', stage_id, ',', frame_id, ',', command_id, ';',
    array[event_type, status, node_name, worker_id, aggregate_type, aggregate_id]) as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref,
  created_at::text as created_at
from noetl.event
where execution_id = :execution_id::bigint and event_id >= :from_event_id::bigint and event_id <= :to_event_id::bigint
  and tenant_id = :tenant_id::text and organization_id = :organization_id::text
  and (:as_of_time::timestamp is null or ingest_time <= :as_of_time::timestamp at time zone 'utc')
  and (:as_of_version::bigint is null or stream_version <= :as_of_version::bigint)
order by event_id;

-- name: replay_page_python(
--   execution_id, from_event_id, to_event_id, tenant_id, organization_id, as_of_time, as_of_version
-- )
-- The same for profile python: without the worker column, with the schema, and cut by the time of the event.
select concat(event_id, ';', stage_id, ',', frame_id, ',', command_id, ';',
    array[event_type, status, node_name, null, aggregate_type, aggregate_id]) as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref,
  schema_name, schema_version, created_at::text as created_at
from noetl.event
where execution_id = :execution_id::bigint and event_id >= :from_event_id::bigint and event_id <= :to_event_id::bigint
  and tenant_id = :tenant_id::text and organization_id = :organization_id::text
  and (:as_of_time::timestamp is null or event_time <= :as_of_time::timestamp at time zone 'utc')
  and (:as_of_version::bigint is null or stream_version <= :as_of_version::bigint)
order by event_id;

-- name: replay_page_server(execution_id, from_event_id, to_event_id, as_of_time, as_of_version)
-- The same for profile server: of every tenant, without the column payload_ref, and cut by the event's own time.
select concat(event_id, ';', stage_id, ',', frame_id, ',', command_id, ';',
    array[event_type, status, node_name, worker_id, aggregate_type, aggregate_id]) as head,
  meta::text as meta, (result -> 'reference')::text as payload_ref, created_at::text as created_at
from noetl.event
where execution_id = :execution_id::bigint and event_id >= :from_event_id::bigint and event_id <= :to_event_id::bigint
  and (:as_of_time::timestamp is null or created_at <= :as_of_time::timestamp)
  and (:as_of_version::bigint is null or stream_version <= :as_of_version::bigint)
order by event_id;

-- name: replay_open_since
-- Since when events may be written that nobody sees yet: the beginning of the oldest transaction that has written into
-- this database and not ended, else now. Ask before the view is taken: what ends in between is in the view, what begins
-- later comes in later. A transaction that we are not shown (of another role, or prepared) may have begun at any time.
with shown as materialized (
  select backend_xid, xact_start, datname = current_database() and pid <> pg_backend_pid() as counts
  from pg_stat_activity
  where backend_xid is not null and backend_type <> 'autovacuum worker'
),
not_shown as materialized (
  select xid
  from pg_snapshot_xip(pg_current_snapshot()) as xid
  where xid::xid not in (select backend_xid from shown)
)
select case
  -- Looked at again: most that are not shown have just ended.
  when exists (select 1 from not_shown where pg_xact_status(xid) = 'in progress') then '0001-01-01 00:00:00+00'
  -- The snapshot lists only what is older than the last transaction that ended. Locks show the newer ones, of every role.
  when exists (
    select 1
    from pg_locks as held left join pg_stat_activity as session using (pid)
    where held.locktype = 'transactionid' and held.mode = 'ExclusiveLock' and held.granted
      and (held.pid is null or session.query = '<insufficient privilege>')
  ) then '0001-01-01 00:00:00+00'
  else least(now(), (select min(xact_start) from shown where counts))
end::text as open_since;

-- name: replay_last_event_before(execution_id, tenant_id, organization_id, event_time)
-- The highest event id of execution `execution_id` of tenant `tenant_id` and organisation `organization_id` up to the
-- time `event_time` of the event.
select max(event_id) as event_id from noetl.event
where execution_id = :execution_id::bigint and tenant_id = :tenant_id::text and organization_id = :organization_id::text
  and event_time <= :event_time::timestamp at time zone 'utc';

-- name: replay_seed_check(execution_id, event_id, stream_version)
-- Whether a seed of execution `execution_id` that ends at event `event_id` still holds: its last event is there, and no
-- event at or below it came after version `stream_version`. Events without a version came after it, too.
select
  exists (select 1 from noetl.event where execution_id = :execution_id::bigint and event_id = :event_id::bigint) as has_last,
  (
    select min(late.event_id) from (
      (select event_id from noetl.event
       where execution_id = :execution_id::bigint and stream_version > :stream_version::bigint and event_id <= :event_id::bigint
       order by stream_version limit 1)
      union all
      (select event_id from noetl.event
       where execution_id = :execution_id::bigint and stream_version is null and event_id <= :event_id::bigint
       order by event_id limit 1)
    ) as late
  ) as straggler;

-- name: replay_log_version(execution_id)
-- How far execution `execution_id` is numbered, and whether rows without a number wait.
select
  (select max(stream_version) from noetl.event where execution_id = :execution_id::bigint and stream_version is not null) as stream_version,
  exists (select 1 from noetl.event where execution_id = :execution_id::bigint and stream_version is null) as has_unnumbered;

-- name: replay_read_model(execution_id)
-- What the read model says about execution `execution_id`.
select status, last_event_id, last_event_type, last_node_name, event_count, stream_version, tenant_id, organization_id
from noetl.execution where execution_id = :execution_id::bigint;

-- name: replay_owner(execution_id)
-- Tenant and organisation of execution `execution_id`, from the read model or from its first event.
select tenant_id, organization_id from (
  (select 0 as rank, tenant_id, organization_id from noetl.execution where execution_id = :execution_id::bigint)
  union all
  (select 1, tenant_id, organization_id from noetl.event where execution_id = :execution_id::bigint order by event_id limit 1)
) as found
order by rank
limit 1;

-- name: replay_executions(after, limit_rows, since)
-- Executions `after` in id order, at most `limit_rows`, that were heard of `since` when given.
select execution_id, tenant_id, organization_id, event_count
from noetl.execution
where execution_id > :after::bigint and (:since::timestamptz is null or updated_at >= :since::timestamptz)
order by execution_id
limit :limit_rows::int;

-- name: replay_page_tape(
--   execution_id, from_event_id, to_event_id, tenant_id, organization_id, as_of_time, as_of_version
-- )
-- The same as replay_page (events `from_event_id` to `to_event_id` of execution `execution_id`, of tenant `tenant_id` and
-- organisation `organization_id`, until time `as_of_time` and version `as_of_version`) with the version of each event and
-- its time in seconds, for tapes.
select concat(event_id, ';', stage_id, ',', frame_id, ',', command_id, ';', stream_version, ',', date_part('epoch', created_at),
    array[event_type, status, node_name, worker_id, aggregate_type, aggregate_id]) as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref
from noetl.event
where execution_id = :execution_id::bigint and event_id >= :from_event_id::bigint and event_id <= :to_event_id::bigint
  and tenant_id = :tenant_id::text and organization_id = :organization_id::text
  and (:as_of_time::timestamp is null or ingest_time <= :as_of_time::timestamp at time zone 'utc')
  and (:as_of_version::bigint is null or stream_version <= :as_of_version::bigint)
order by event_id;

-- name: replay_news(execution_id, last_event_id, known_version, tenant_id, organization_id)
-- What whoever has read the log of execution `execution_id`, as tenant `tenant_id` and organisation `organization_id` see
-- it, up to event `last_event_id`, when it was numbered up to `known_version`, has to know: how far it is numbered now,
-- whether rows wait for a number, whether events came in below the last, whether that is still there, and whose the log is,
-- with how many events the read model has counted.
select
  (select max(stream_version) from noetl.event where execution_id = :execution_id::bigint and stream_version is not null) as version,
  (
    select event_id from noetl.event
    where execution_id = :execution_id and stream_version is null and tenant_id = :tenant_id::text and organization_id = :organization_id::text
    order by event_id limit 1
  ) is not null as has_unnumbered,
  exists (select 1 from noetl.event where execution_id = :execution_id and event_id = :last_event_id::bigint) as has_last,
  (
    select event_id from noetl.event
    where execution_id = :execution_id and event_id <= :last_event_id and stream_version > :known_version::bigint
      and tenant_id = :tenant_id and organization_id = :organization_id
    order by stream_version limit 1
  ) is not null as has_late,
  coalesce(x.tenant_id, 'default') as tenant_id, coalesce(x.organization_id, 'default') as organization_id,
  coalesce(x.event_count, 0)::int as event_count, x.execution_id is not null as is_known
from (select 1) as one left join noetl.execution x on x.execution_id = :execution_id;

-- name: replay_stragglers(execution_id, last_event_id, known_version, tenant_id, organization_id, limit_rows)
-- Events of execution `execution_id` of tenant `tenant_id` and organisation `organization_id` up to event `last_event_id`
-- that were numbered after version `known_version`, or are not numbered, at most `limit_rows` in id order.
select event_id, stream_version from noetl.event
where execution_id = :execution_id::bigint and event_id <= :last_event_id::bigint
  and tenant_id = :tenant_id::text and organization_id = :organization_id::text
  and (stream_version > :known_version::bigint or stream_version is null)
order by event_id
limit :limit_rows::int;

-- name: replay_count(execution_id, tenant_id, organization_id)
-- How many events of tenant `tenant_id` and organisation `organization_id` execution `execution_id` has.
select count(*)::int as count from noetl.event
where execution_id = :execution_id::bigint and tenant_id = :tenant_id::text and organization_id = :organization_id::text;
