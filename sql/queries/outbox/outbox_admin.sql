-- name: outbox_backlog(rows_max)
-- What is not settled, by state, looking at no more than `rows_max` rows.
select
  count(*) filter (where status = 'PENDING' and available_at <= now())::int as pending_ready,
  count(*) filter (where status = 'PENDING' and available_at > now())::int as pending_waiting,
  count(*) filter (where status = 'FAILED' and available_at <= now())::int as failed_ready,
  count(*) filter (where status = 'FAILED' and available_at > now())::int as failed_waiting,
  count(*) filter (where status = 'IN_FLIGHT' and lease_end > now())::int as in_flight_live,
  count(*) filter (where status = 'IN_FLIGHT' and lease_end <= now())::int as in_flight_expired,
  count(*)::int = :rows_max::int as capped
from (
  select status, available_at, coalesce(lease_until, locked_at + interval '15 seconds', now()) as lease_end
  from noetl.outbox
  where status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  limit :rows_max::int
) as unsettled;

-- name: outbox_dead_count(backlog_max)
-- Dead rows, counted up to `backlog_max`.
select count(*)::int as dead from (select 1 from noetl.outbox where status = 'DEAD' limit :backlog_max::int) as dead;

-- name: outbox_oldest
-- Age in seconds of the first row that is not published.
select greatest(0, extract(epoch from now() - created_at))::float8 as age_seconds from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id
limit 1;

-- name: outbox_published(counted_max)
-- Published rows that are kept: counted up to `counted_max`, beyond that as the server estimates them from its index.
select counted.n::bigint as counted,
  greatest(counted.n, (select reltuples from pg_class where oid = 'noetl.outbox_published_idx'::regclass))::bigint as about
from (select count(*) as n from (select 1 from noetl.outbox where status = 'PUBLISHED' limit :counted_max::int) as found) as counted;

-- name: outbox_rate(backlog_max)
-- Rows published in the last minute, counted up to `backlog_max`.
select count(*)::int as published from (
  select 1 from noetl.outbox where status = 'PUBLISHED' and published_at > now() - interval '1 minute' limit :backlog_max::int
) as fresh;

-- name: outbox_relays
-- The processes that share the lanes.
select id as relay_id, coalesce((info -> 'outbox' ->> 'lanes')::int, 0) as lanes, coalesce(info -> 'outbox' ->> 'published', '0') as published,
  started_at::text as started_at, (lease_until > now()) as alive
from noetl.member where info -> 'shares' ? 'outbox' order by member.started_at, id;

-- name: outbox_list_unsettled(status, after, limit_rows)
-- A page of rows that are not settled, of `status` (null: any), after id `after`, at most `limit_rows`.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and status = coalesce(:status::text, status) and outbox_id > :after::bigint
order by outbox_id
limit :limit_rows::int;

-- name: outbox_list_published(after, limit_rows)
-- A page of published rows after id `after`, at most `limit_rows`.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where status = 'PUBLISHED' and outbox_id > :after::bigint
order by outbox_id
limit :limit_rows::int;

-- name: outbox_list_execution(execution_id, status, after, limit_rows)
-- A page of the rows of execution `execution_id`, of `status` (null: any), after id `after`, at most `limit_rows`.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where execution_id = :execution_id::bigint and status = coalesce(:status::text, status) and outbox_id > :after::bigint
order by outbox_id
limit :limit_rows::int;

-- name: outbox_list_dead(after, limit_rows, execution_id, reason, since, outbox_ids)
-- A page of dead rows after id `after`, at most `limit_rows`: of execution `execution_id`, with `reason` in the reason,
-- dead `since`, among the ids `outbox_ids` (each null: any).
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where status = 'DEAD' and outbox_id > :after::bigint
  and (:execution_id::bigint is null or execution_id = :execution_id::bigint)
  and (:reason::text is null or position(lower(:reason::text) in lower(coalesce(last_error, ''))) > 0)
  and (:since::timestamptz is null or updated_at >= :since::timestamptz)
  and (:outbox_ids::bigint[] is null or outbox_id = any(:outbox_ids::bigint[]))
order by outbox_id
limit :limit_rows::int;

-- name: outbox_show(outbox_id)
-- One row with everything.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes,
  payload, payload_codec, trace, locked_at::text as locked_at, lease_token,
  noetl.lane_of(coalesce(execution_id, event_id)) as lane
from noetl.outbox
where outbox_id = :outbox_id::bigint;

-- name: outbox_retry(after, limit_rows, execution_id, outbox_ids)
-- Failed rows after id `after` may be tried now, at most `limit_rows`: of execution `execution_id`, among the ids
-- `outbox_ids` (each null: any).
update noetl.outbox
set available_at = now(), updated_at = now()
where outbox_id in (
  select outbox_id from noetl.outbox
  where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and status = 'FAILED' and available_at > now() and outbox_id > :after::bigint
    and (:execution_id::bigint is null or execution_id = :execution_id::bigint)
    and (:outbox_ids::bigint[] is null or outbox_id = any(:outbox_ids::bigint[]))
  order by outbox_id
  limit :limit_rows::int
  for update skip locked
)
returning outbox_id;

-- name: outbox_redrive(outbox_ids)
-- The dead rows `outbox_ids` start again from their first attempt; the reason stays readable until they are published.
update noetl.outbox
set status = 'PENDING', attempts = 0, available_at = now(), updated_at = now()
where outbox_id in (
  select outbox_id from noetl.outbox where outbox_id = any(:outbox_ids::bigint[]) and status = 'DEAD' order by outbox_id for update skip locked
)
returning outbox_id;

-- name: outbox_dead_drop(outbox_ids)
-- Removes the dead rows `outbox_ids`; their events stay in the log.
delete from noetl.outbox
where outbox_id in (
  select outbox_id from noetl.outbox where outbox_id = any(:outbox_ids::bigint[]) and status = 'DEAD' order by outbox_id for update skip locked
)
returning outbox_id;

-- name: outbox_purge(older_than_seconds, limit_rows)
-- Removes up to `limit_rows` rows published more than `older_than_seconds` ago, oldest first.
delete from noetl.outbox
where outbox_id in (
  select outbox_id from noetl.outbox
  where status = 'PUBLISHED' and published_at < now() - make_interval(secs => :older_than_seconds::double precision)
  order by published_at
  limit :limit_rows::int
  for update skip locked
);

-- name: outbox_audit_page(published_at, outbox_id, limit_rows)
-- Published rows after time `published_at` and id `outbox_id` in the order of their settlement, at most `limit_rows`.
select outbox_id, execution_id, event_id, stream_seq, published_at::text as published_at
from noetl.outbox
where status = 'PUBLISHED' and (published_at, outbox_id) > (:published_at::timestamptz, :outbox_id::bigint)
order by outbox.published_at, outbox_id
limit :limit_rows::int;

-- name: outbox_republish(outbox_ids, seqs, not_before_ms)
-- The rows `outbox_ids` that the stream lost (sequences `seqs`) are published again, not before `not_before_ms` (ms
-- since 1970), while still settled as they were seen.
update noetl.outbox o
set status = 'PENDING', attempts = 0, published_at = null, stream_seq = null, lease_owner = null, updated_at = now(),
  last_error = 'audit: not in the stream',
  available_at = greatest(now(), to_timestamp(given.not_before / 1000.0))
from (
  select r.outbox_id, given.not_before
  from unnest(:outbox_ids::bigint[], :seqs::bigint[], :not_before_ms::float8[]) as given (outbox_id, seq, not_before)
  join noetl.outbox r on r.outbox_id = given.outbox_id
  where r.status = 'PUBLISHED' and r.stream_seq = given.seq
  order by r.outbox_id
  for update of r
) as given
where o.outbox_id = given.outbox_id
returning o.outbox_id;

-- name: outbox_unpublished(outbox_ids)
-- How many of the rows `outbox_ids` are not published.
select count(*)::int as waiting from noetl.outbox where outbox_id = any(:outbox_ids::bigint[]) and status <> 'PUBLISHED';

-- name: outbox_dead_groups(scanned_max, limit_rows)
-- Dead rows by reason, the most frequent first, at most `limit_rows`: how many, when the newest died, and which that is.
-- Looks at `scanned_max` rows at most.
select reason, count(*)::int as count, max(updated_at)::text as newest_at,
  (array_agg(outbox_id order by updated_at desc, outbox_id desc))[1] as outbox_id,
  (array_agg(execution_id order by updated_at desc, outbox_id desc))[1] as execution_id
from (
  select coalesce(left(last_error, 300), '') as reason, updated_at, outbox_id, execution_id
  from noetl.outbox where status = 'DEAD' order by outbox_id limit :scanned_max::int
) as dead
group by reason
order by count desc, reason
limit :limit_rows::int;

-- name: outbox_of_events(execution_ids, event_ids)
-- What became of the rows of these events.
select o.execution_id, o.event_id, o.status, o.stream_seq, o.lease_owner
from unnest(:execution_ids::bigint[], :event_ids::bigint[]) as given (execution_id, event_id)
join noetl.outbox o on o.execution_id = given.execution_id and o.event_id = given.event_id;
