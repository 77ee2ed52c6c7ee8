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
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
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
)
select case when ($3::bigint >> lane) & 1 = 1 then numbers else array[r.outbox_id] end as numbers,
  subject, payload, trace, event_type, stream_version
from noetl.relay_row r, edge
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and r.outbox_id > $1::bigint and r.outbox_id <= edge.outbox_id
  and (($3::bigint >> lane) & 1 = 1 or r.outbox_id = edge.outbox_id)
order by r.outbox_id;

-- name: outbox_sweep
-- The same without contents, between $1 (exclusive) and $2, visiting at most $3, lanes by the bit mask $4: what did the reader miss?
select outbox_id, execution_id, (status <> 'IN_FLIGHT' and available_at <= now()) as due,
  ($4::bigint >> noetl.lane_of(coalesce(execution_id, event_id))) & 1 = 1 as owned
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
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
where outbox_id = any($1::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id;

-- name: outbox_read_execution
-- Unsettled rows of execution $1 in order, at most $2.
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
where execution_id = $1::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id
limit $2::int;

-- name: outbox_read_execution_with_dead
-- The same with dead rows in their place. Two questions, because there is one index for what is unsettled and one for
-- what is dead, and none for both.
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
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
-- Marks rows $1 (stream sequences $2) published, as far as $3 still holds their lanes $4 with tokens $5.
update noetl.outbox o
set status = 'PUBLISHED', published_at = now(), updated_at = now(), last_error = null, stream_seq = given.seq,
  attempts = o.attempts + 1, unanswered_since = null, lease_owner = null, lease_token = null, lease_until = null
from unnest($1::bigint[], $2::bigint[]) as given (outbox_id, seq)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((select noetl.held_slots('outbox', $3::text, $4::int[], $5::bigint[])) >> noetl.lane_of(coalesce(o.execution_id, o.event_id))) & 1 = 1;

-- name: outbox_fail
-- Marks rows $1 failed with status $2 (FAILED or DEAD), waits $3 (ms), errors $4 and, where no answer came, the ms since
-- they were first sent $5; fenced like outbox_settle by $6, $7, $8.
update noetl.outbox o
set status = given.status, attempts = o.attempts + 1, available_at = now() + given.wait_ms * interval '1 millisecond',
  last_error = given.error, updated_at = now(), unanswered_since = now() - given.unanswered_ms * interval '1 millisecond',
  lease_owner = null, lease_token = null, lease_until = null
from unnest($1::bigint[], $2::text[], $3::float8[], $4::text[], $5::float8[])
  as given (outbox_id, status, wait_ms, error, unanswered_ms)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((select noetl.held_slots('outbox', $6::text, $7::int[], $8::bigint[])) >> noetl.lane_of(coalesce(o.execution_id, o.event_id))) & 1 = 1;

-- name: outbox_unanswered
-- The rows $1 were first sent $2 ms ago and got no answer; fenced like outbox_settle by $3, $4, $5.
update noetl.outbox o
set unanswered_since = now() - given.unanswered_ms * interval '1 millisecond', updated_at = now()
from unnest($1::bigint[], $2::float8[]) as given (outbox_id, unanswered_ms)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((select noetl.held_slots('outbox', $3::text, $4::int[], $5::bigint[])) >> noetl.lane_of(coalesce(o.execution_id, o.event_id))) & 1 = 1;

-- name: outbox_head
-- The newest row of all.
select coalesce(max(outbox_id), 0) as head from noetl.outbox;

-- name: outbox_has_unsettled
-- Is anything left to publish?
select exists (select 1 from noetl.outbox where status in ('PENDING', 'FAILED', 'IN_FLIGHT')) as unsettled;

-- name: outbox_dead_executions
-- Executions with a dead row in the lanes $1.
select distinct execution_id, noetl.lane_of(execution_id) as lane from noetl.outbox
where status = 'DEAD' and execution_id is not null
  and noetl.lane_of(execution_id) = any($1::int[]);
