-- name: outbox_insert
-- One outbox row per event: execution ids $1, event ids $2, subjects $3, payloads $4 as one JSON array, trace contexts $5.
insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, trace)
select execution_id, event_id, subject, payload, 'json', trace::jsonb
from rows from (unnest($1::bigint[], $2::bigint[], $3::text[], $5::text[]), jsonb_array_elements($4::jsonb)) with ordinality
  as given (execution_id, event_id, subject, trace, payload, position)
order by position;

-- name: outbox_notify
-- A hint to relays in other processes that rows have arrived.
select pg_notify('noetl_outbox', '');

-- name: outbox_read
-- Unsettled rows after $1 in order, at most $2, for a relay that holds every lane.
-- Numbers come as one array (id, execution, event, lane, attempts, ms to wait): a column costs the driver more than a digit.
select
  array[outbox_id, execution_id, event_id, hashint8extended(coalesce(execution_id, event_id), 0) & 63, attempts,
    case when status = 'PENDING' and available_at <= now() then 0
    else least(9e15, greatest(0, ceil((extract(epoch from case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) else available_at end) - extract(epoch from now())) * 1000))) end::bigint] as numbers,
  subject, payload::text as payload, trace::text as trace, payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > $1::bigint
order by outbox_id
limit $2::int;

-- name: outbox_read_lanes
-- The same for a relay that shares: visits at most $2 rows and answers those of the lanes in the bit mask $3, and of the
-- last one that was visited at least the id, so that the reader can go on behind it.
with edge as materialized (
  select max(outbox_id) as outbox_id from (
    select outbox_id from noetl.outbox
    where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > $1::bigint
    order by outbox_id
    limit $2::int
  ) as visited
),
found as (
  select o.*, ($3::bigint >> (hashint8extended(coalesce(o.execution_id, o.event_id), 0) & 63)::int) & 1 = 1 as owned
  from noetl.outbox o, edge
  where o.status in ('PENDING', 'FAILED', 'IN_FLIGHT') and o.outbox_id > $1::bigint and o.outbox_id <= edge.outbox_id
    and (
      ($3::bigint >> (hashint8extended(coalesce(o.execution_id, o.event_id), 0) & 63)::int) & 1 = 1
      or o.outbox_id = edge.outbox_id
    )
)
select
  case when not owned then array[outbox_id] else array[outbox_id, execution_id, event_id, hashint8extended(coalesce(execution_id, event_id), 0) & 63, attempts,
    case when status = 'PENDING' and available_at <= now() then 0
    else least(9e15, greatest(0, ceil((extract(epoch from case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) else available_at end) - extract(epoch from now())) * 1000))) end::bigint] end as numbers,
  subject, payload::text as payload, trace::text as trace, payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from found
order by outbox_id;

-- name: outbox_sweep
-- The same without contents, between $1 (exclusive) and $2, visiting at most $3, lanes by the bit mask $4: what did the reader miss?
select outbox_id, execution_id, (status <> 'IN_FLIGHT' and available_at <= now()) as due,
  ($4::bigint >> (hashint8extended(coalesce(execution_id, event_id), 0) & 63)::int) & 1 = 1 as owned
from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > $1::bigint and outbox_id <= $2::bigint
order by outbox_id
limit $3::int;

-- name: outbox_read_earlier
-- Ids of unsettled rows of the executions $1 up to $2.
-- One look into the index of each execution (offset 0 keeps it so): the planner would rather walk everything behind the front.
select late.outbox_id from unnest($1::bigint[]) as wanted (execution_id),
lateral (
  select outbox_id from noetl.outbox
  where execution_id = wanted.execution_id and outbox_id <= $2::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  offset 0
) as late;

-- name: outbox_read_ids
-- The unsettled ones of the rows $1, in order.
select
  array[outbox_id, execution_id, event_id, hashint8extended(coalesce(execution_id, event_id), 0) & 63, attempts,
    case when status = 'PENDING' and available_at <= now() then 0
    else least(9e15, greatest(0, ceil((extract(epoch from case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) else available_at end) - extract(epoch from now())) * 1000))) end::bigint] as numbers,
  subject, payload::text as payload, trace::text as trace, payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from noetl.outbox
where outbox_id = any($1::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id;

-- name: outbox_read_execution
-- Unsettled rows of execution $1 in order, at most $2.
select
  array[outbox_id, execution_id, event_id, hashint8extended(coalesce(execution_id, event_id), 0) & 63, attempts,
    case when status = 'PENDING' and available_at <= now() then 0
    else least(9e15, greatest(0, ceil((extract(epoch from case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) else available_at end) - extract(epoch from now())) * 1000))) end::bigint] as numbers,
  subject, payload::text as payload, trace::text as trace, payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from noetl.outbox
where execution_id = $1::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id
limit $2::int;

-- name: outbox_read_execution_with_dead
-- The same with dead rows in their place, each as one that must wait five seconds. Two questions, because there is one
-- index for what is unsettled and one for what is dead, and none for both.
select
  array[outbox_id, execution_id, event_id, hashint8extended(coalesce(execution_id, event_id), 0) & 63, attempts,
    case when status = 'PENDING' and available_at <= now() then 0
    when status = 'DEAD' then 5000
    else least(9e15, greatest(0, ceil((extract(epoch from case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) else available_at end) - extract(epoch from now())) * 1000))) end::bigint] as numbers,
  subject, payload::text as payload, trace::text as trace, payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from noetl.outbox
where outbox_id = any(
  array(
    select outbox_id from noetl.outbox
    where execution_id = $1::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT') order by outbox_id limit $2::int
  ) || array(
    select outbox_id from noetl.outbox
    where execution_id = $1::bigint and status = 'DEAD' order by outbox_id limit $2::int
  )
) and status <> 'PUBLISHED'
order by outbox_id
limit $2::int;

-- name: outbox_settle
-- Marks rows $1 (stream sequences $2) published, as far as relay $3 still holds their lanes $4 with tokens $5.
update noetl.outbox o
set status = 'PUBLISHED', published_at = now(), updated_at = now(), last_error = null, stream_seq = given.seq,
  attempts = o.attempts + 1, lease_owner = null, lease_token = null, lease_until = null
from unnest($1::bigint[], $2::bigint[]) as given (outbox_id, seq)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((
    select bit_or(1::bigint << l.lane) from noetl.outbox_lane l join unnest($4::smallint[], $5::bigint[]) as mine (lane, token)
      on l.lane = mine.lane and l.token = mine.token
    where l.owner = $3::text and l.lease_until > now()
  ) >> (hashint8extended(coalesce(o.execution_id, o.event_id), 0) & 63)::int) & 1 = 1;

-- name: outbox_fail
-- Marks rows $1 failed with status $2 (FAILED or DEAD), waits $3 (ms) and errors $4, fenced like outbox_settle by $5, $6, $7.
update noetl.outbox o
set status = given.status, attempts = o.attempts + 1, available_at = now() + given.wait_ms * interval '1 millisecond',
  last_error = given.error, updated_at = now(), lease_owner = null, lease_token = null, lease_until = null
from unnest($1::bigint[], $2::text[], $3::float8[], $4::text[]) as given (outbox_id, status, wait_ms, error)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((
    select bit_or(1::bigint << l.lane) from noetl.outbox_lane l join unnest($6::smallint[], $7::bigint[]) as mine (lane, token)
      on l.lane = mine.lane and l.token = mine.token
    where l.owner = $5::text and l.lease_until > now()
  ) >> (hashint8extended(coalesce(o.execution_id, o.event_id), 0) & 63)::int) & 1 = 1;

-- name: outbox_has_unsettled
-- Is anything left to publish?
select exists (select 1 from noetl.outbox where status in ('PENDING', 'FAILED', 'IN_FLIGHT')) as unsettled;

-- name: outbox_dead_executions
-- Executions with a dead row in the lanes $1.
select distinct execution_id, (hashint8extended(execution_id, 0) & 63)::smallint as lane from noetl.outbox
where status = 'DEAD' and execution_id is not null
  and (hashint8extended(execution_id, 0) & 63)::smallint = any($1::smallint[]);
