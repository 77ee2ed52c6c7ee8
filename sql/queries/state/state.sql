-- name: state_tail
-- Execution $1 and the first $3 of its events numbered after $2, in the order of their numbers. `head` is the last number
-- given out, `unadopted` whether rows of others wait for a number, `mark` the event that $2 is the number of. Many events travel as one value of about 256 kB,
-- four lines each: for a driver, values and rows cost more than their bytes. JSON never holds a line break.
select
  x.stream_version as head, x.status as execution_status, x.tenant_id, x.organization_id,
  exists (select 1 from noetl.event u where u.execution_id = $1::bigint and u.stream_version is null) as unadopted,
  (select m.event_id from noetl.event m where m.execution_id = $1::bigint and m.stream_version = $2::bigint limit 1) as mark,
  e.lines
from noetl.execution x
left join lateral (
  select part, string_agg(line, e'\n' order by stream_version) as lines
  from (
    select stream_version, line,
      (sum(octet_length(line)) over (order by stream_version rows unbounded preceding)) / 262144 as part
    from (
      select stream_version,
        concat(
          json_build_array(
            stream_version, event_id::text, catalog_id::text, parent_execution_id::text, event_type, node_name, worker_id,
            error, created_at::text
          ),
          e'\n', context, e'\n', result, e'\n', meta
        ) as line
      from noetl.event
      where execution_id = $1::bigint and stream_version > $2::bigint
      order by stream_version
      limit $3::int
    ) as listed
  ) as parted
  group by part
) e on true
where x.execution_id = $1::bigint
order by e.part;

-- name: state_heads
-- Where the executions $1 stand.
select execution_id, stream_version, status from noetl.execution where execution_id = any($1::bigint[]);

-- name: state_active
-- Executions that have not ended, after $1 in id order, at most $2.
select execution_id, stream_version from noetl.execution
where status not in ('COMPLETED', 'FAILED', 'CANCELLED') and execution_id > $1::bigint
order by execution_id
limit $2::int;

-- name: state_digest_ids
-- The ids of the events of execution $1 with numbers after $2 up to $3, at most $4, in that order.
select event_id, stream_version from noetl.event
where execution_id = $1::bigint and stream_version > $2::bigint and stream_version <= $3::bigint
order by stream_version
limit $4::int;

-- name: decision_claim
-- Writes the decisions $2 of the executions $1, made on the versions $3; answers those that were not made before.
insert into noetl.decision_key (execution_id, key, version)
select execution_id, key, version
from unnest($1::bigint[], $2::text[], $3::bigint[]) as given (execution_id, key, version)
order by execution_id, key
on conflict do nothing
returning execution_id, key;

-- name: decision_forget
-- Decisions of execution $1 once it has ended: it gets no further ones.
delete from noetl.decision_key where execution_id = $1::bigint;

-- name: state_notify
-- Tells the other daemons that the executions named in $1 have news.
select pg_notify('noetl_state', $1::text);
