-- name: replay_bound
-- Where the next page of execution $1 starts: the id $3 rows after event $2.
select event_id from noetl.event
where execution_id = $1::bigint and event_id >= $2::bigint
order by event_id
offset $3::int
limit 1;

-- name: replay_page
-- Events $2 to $3 of execution $1 of tenant $4 and organisation $5 as the fold reads them, those that had come in
-- by the time $6 and up to the version $7 where given. Of a result only the reference counts, and only without a payload reference. Short
-- columns travel as one value, the id and two arrays: a driver spends more on values than on their bytes, and neighbours
-- often carry the very same texts. Whole pages as one value cost the driver less still, but the server more, and it
-- sends nothing of a page before it has all of it: that was slower in all.
select event_id::text || array[stage_id, frame_id, command_id]::text
    || array[event_type, status, node_name, worker_id, aggregate_type, aggregate_id]::text as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref
from noetl.event
where execution_id = $1::bigint and event_id >= $2::bigint and event_id <= $3::bigint
  and tenant_id = $4::text and organization_id = $5::text
  and ($6::timestamp is null or ingest_time <= $6::timestamp at time zone 'utc')
  and ($7::bigint is null or stream_version <= $7::bigint)
order by event_id;

-- name: replay_page_timed
-- The same with the time of each event, for timelines.
select event_id::text || array[stage_id, frame_id, command_id]::text
    || array[event_type, status, node_name, worker_id, aggregate_type, aggregate_id]::text as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref,
  created_at::text as created_at
from noetl.event
where execution_id = $1::bigint and event_id >= $2::bigint and event_id <= $3::bigint
  and tenant_id = $4::text and organization_id = $5::text
  and ($6::timestamp is null or ingest_time <= $6::timestamp at time zone 'utc')
  and ($7::bigint is null or stream_version <= $7::bigint)
order by event_id;

-- name: replay_page_python
-- The same for profile python: without the worker column, with the schema, and cut by the time of the event.
select event_id::text || array[stage_id, frame_id, command_id]::text
    || array[event_type, status, node_name, null, aggregate_type, aggregate_id]::text as head,
  meta::text as meta, coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference')::text as payload_ref,
  schema_name, schema_version, created_at::text as created_at
from noetl.event
where execution_id = $1::bigint and event_id >= $2::bigint and event_id <= $3::bigint
  and tenant_id = $4::text and organization_id = $5::text
  and ($6::timestamp is null or event_time <= $6::timestamp at time zone 'utc')
  and ($7::bigint is null or stream_version <= $7::bigint)
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
  else least(now(), (select min(xact_start) from shown where counts))
end::text as open_since;

-- name: replay_last_event_before
-- The highest event id of execution $1 of tenant $2 and organisation $3 up to the time $4 of the event.
select max(event_id) as event_id from noetl.event
where execution_id = $1::bigint and tenant_id = $2::text and organization_id = $3::text
  and event_time <= $4::timestamp at time zone 'utc';

-- name: replay_seed_check
-- Whether a seed of execution $1 that ends at event $2 still holds: its last event is there, and no event at or
-- below it came after version $3. Events without a version came after it, too.
select
  exists (select 1 from noetl.event where execution_id = $1::bigint and event_id = $2::bigint) as has_last,
  (
    select min(late.event_id) from (
      (select event_id from noetl.event
       where execution_id = $1::bigint and stream_version > $3::bigint and event_id <= $2::bigint
       order by stream_version limit 1)
      union all
      (select event_id from noetl.event
       where execution_id = $1::bigint and stream_version is null and event_id <= $2::bigint
       order by event_id limit 1)
    ) as late
  ) as straggler;

-- name: replay_log_version
-- How far execution $1 is numbered, and whether rows without a number wait.
select
  (select max(stream_version) from noetl.event where execution_id = $1::bigint and stream_version is not null) as stream_version,
  exists (select 1 from noetl.event where execution_id = $1::bigint and stream_version is null) as has_unnumbered;

-- name: replay_read_model
-- What the read model says about execution $1.
select status, last_event_id, last_event_type, last_node_name, event_count, stream_version, tenant_id, organization_id
from noetl.execution where execution_id = $1::bigint;

-- name: replay_owner
-- Tenant and organisation of execution $1, from the read model or from its first event.
select tenant_id, organization_id from (
  (select 0 as rank, tenant_id, organization_id from noetl.execution where execution_id = $1::bigint)
  union all
  (select 1, tenant_id, organization_id from noetl.event where execution_id = $1::bigint order by event_id limit 1)
) as found
order by rank
limit 1;

-- name: replay_executions
-- Executions after $1 in id order, at most $2, that were heard of since $3 when given.
select execution_id, tenant_id, organization_id, event_count
from noetl.execution
where execution_id > $1::bigint and ($3::timestamptz is null or updated_at >= $3::timestamptz)
order by execution_id
limit $2::int;
