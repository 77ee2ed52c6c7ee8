-- name: outbox_backlog
-- What is not settled, by state, looking at no more than $1 rows.
select
  count(*) filter (where status = 'PENDING' and available_at <= now())::int as pending_ready,
  count(*) filter (where status = 'PENDING' and available_at > now())::int as pending_waiting,
  count(*) filter (where status = 'FAILED' and available_at <= now())::int as failed_ready,
  count(*) filter (where status = 'FAILED' and available_at > now())::int as failed_waiting,
  count(*) filter (where status = 'IN_FLIGHT' and lease_end > now())::int as in_flight_live,
  count(*) filter (where status = 'IN_FLIGHT' and lease_end <= now())::int as in_flight_expired,
  count(*)::int = $1::int as capped
from (
  select status, available_at, coalesce(lease_until, locked_at + interval '15 seconds', now()) as lease_end
  from noetl.outbox
  where status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  limit $1::int
) as unsettled;

-- name: outbox_dead_count
-- Dead rows, counted up to $1.
select count(*)::int as dead from (select 1 from noetl.outbox where status = 'DEAD' limit $1::int) as dead;

-- name: outbox_oldest
-- Age in seconds of the first row that is not published.
select greatest(0, extract(epoch from now() - created_at))::float8 as age_seconds from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id
limit 1;

-- name: outbox_published
-- Published rows that are kept: counted up to $1, beyond that as the server estimates them from its index.
select counted.n::bigint as counted,
  greatest(counted.n, (select reltuples from pg_class where oid = 'noetl.outbox_published_idx'::regclass))::bigint as about
from (select count(*) as n from (select 1 from noetl.outbox where status = 'PUBLISHED' limit $1::int) as found) as counted;

-- name: outbox_rate
-- Rows published in the last minute, counted up to $1.
select count(*)::int as published from (
  select 1 from noetl.outbox where status = 'PUBLISHED' and published_at > now() - interval '1 minute' limit $1::int
) as fresh;

-- name: outbox_lane_owners
-- Who holds how many lanes.
select owner, count(*)::int as lanes, bool_and(lease_until > now()) as live
from noetl.lease where kind = 'outbox' and owner is not null group by owner order by owner;

-- name: outbox_relays
-- The processes that share the lanes.
select id as relay_id, coalesce((info -> 'outbox' ->> 'lanes')::int, 0) as lanes, coalesce(info -> 'outbox' ->> 'published', '0') as published,
  started_at::text as started_at, (lease_until > now()) as alive
from noetl.member where info -> 'shares' ? 'outbox' order by started_at, id;

-- name: outbox_list_unsettled
-- A page of rows that are not settled, of status $1 (null: any), after id $2, at most $3.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and status = coalesce($1::text, status) and outbox_id > $2::bigint
order by outbox_id
limit $3::int;

-- name: outbox_list_published
-- A page of published rows after id $1, at most $2.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where status = 'PUBLISHED' and outbox_id > $1::bigint
order by outbox_id
limit $2::int;

-- name: outbox_list_execution
-- A page of the rows of execution $1, of status $2 (null: any), after id $3, at most $4.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where execution_id = $1::bigint and status = coalesce($2::text, status) and outbox_id > $3::bigint
order by outbox_id
limit $4::int;

-- name: outbox_list_dead
-- A page of dead rows after id $1, at most $2: of execution $3, with $4 in the reason, dead since $5, among the ids $6
-- (each null: any).
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes
from noetl.outbox
where status = 'DEAD' and outbox_id > $1::bigint
  and ($3::bigint is null or execution_id = $3::bigint)
  and ($4::text is null or position(lower($4::text) in lower(coalesce(last_error, ''))) > 0)
  and ($5::timestamptz is null or updated_at >= $5::timestamptz)
  and ($6::bigint[] is null or outbox_id = any($6::bigint[]))
order by outbox_id
limit $2::int;

-- name: outbox_show
-- One row with everything.
select outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq,
  available_at::text as available_at, created_at::text as created_at, published_at::text as published_at, updated_at::text as updated_at,
  lease_owner, lease_until::text as lease_until, pg_column_size(payload) as bytes,
  payload, payload_codec, trace, locked_at::text as locked_at, lease_token,
  noetl.lane_of(coalesce(execution_id, event_id)) as lane
from noetl.outbox
where outbox_id = $1::bigint;

-- name: outbox_retry
-- Failed rows after id $1 may be tried now, at most $2: of execution $3, among the ids $4 (each null: any).
update noetl.outbox
set available_at = now(), updated_at = now()
where outbox_id in (
  select outbox_id from noetl.outbox
  where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and status = 'FAILED' and available_at > now() and outbox_id > $1::bigint
    and ($3::bigint is null or execution_id = $3::bigint)
    and ($4::bigint[] is null or outbox_id = any($4::bigint[]))
  order by outbox_id
  limit $2::int
  for update skip locked
)
returning outbox_id;

-- name: outbox_redrive
-- The dead rows $1 start again from their first attempt; the reason stays readable until they are published.
update noetl.outbox
set status = 'PENDING', attempts = 0, available_at = now(), updated_at = now()
where outbox_id in (
  select outbox_id from noetl.outbox where outbox_id = any($1::bigint[]) and status = 'DEAD' order by outbox_id for update skip locked
)
returning outbox_id;

-- name: outbox_dead_drop
-- Removes the dead rows $1; their events stay in the log.
delete from noetl.outbox
where outbox_id in (
  select outbox_id from noetl.outbox where outbox_id = any($1::bigint[]) and status = 'DEAD' order by outbox_id for update skip locked
)
returning outbox_id;

-- name: outbox_purge
-- Removes up to $2 rows published more than $1 seconds ago, oldest first.
delete from noetl.outbox
where outbox_id in (
  select outbox_id from noetl.outbox
  where status = 'PUBLISHED' and published_at < now() - make_interval(secs => $1::double precision)
  order by published_at
  limit $2::int
  for update skip locked
);

-- name: outbox_audit_page
-- Published rows after time $1 and id $2 in the order of their settlement, at most $3.
select outbox_id, execution_id, event_id, stream_seq, published_at::text as published_at
from noetl.outbox
where status = 'PUBLISHED' and (published_at, outbox_id) > ($1::timestamptz, $2::bigint)
order by published_at, outbox_id
limit $3::int;

-- name: outbox_republish
-- The rows $1 that the stream lost (sequences $2) are published again, not before $3 (ms since 1970), while still
-- settled as they were seen.
update noetl.outbox o
set status = 'PENDING', attempts = 0, published_at = null, stream_seq = null, updated_at = now(), last_error = 'audit: not in the stream',
  available_at = greatest(now(), to_timestamp(given.not_before / 1000.0))
from (
  select r.outbox_id, given.not_before
  from unnest($1::bigint[], $2::bigint[], $3::float8[]) as given (outbox_id, seq, not_before)
  join noetl.outbox r on r.outbox_id = given.outbox_id
  where r.status = 'PUBLISHED' and r.stream_seq = given.seq
  order by r.outbox_id
  for update of r
) as given
where o.outbox_id = given.outbox_id
returning o.outbox_id;

-- name: outbox_unpublished
-- How many of the rows $1 are not published.
select count(*)::int as waiting from noetl.outbox where outbox_id = any($1::bigint[]) and status <> 'PUBLISHED';
