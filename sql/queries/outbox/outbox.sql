-- name: outbox_insert_adopted(execution_id, event_ids, payloads)
-- One row per adopted event `event_ids` of execution `execution_id` that came into the table since adopted events are
-- published; `payloads` as one JSON array. One that has a row already, from whoever wrote it, gets no second.
insert into noetl.outbox (execution_id, event_id, payload, payload_codec)
select e.execution_id, e.event_id, given.payload, 'json'
from rows from (unnest(:event_ids::bigint[]), jsonb_array_elements(:payloads::jsonb)) with ordinality as given (event_id, payload, position)
join noetl.event e on e.execution_id = :execution_id::bigint and e.event_id = given.event_id
where e.ingest_time >= (select publish_adopted_since from noetl.cp_identity)
order by given.position
on conflict do nothing
returning outbox_id;

-- name: outbox_notify
-- A hint to relays in other processes that rows have arrived.
select pg_notify('noetl_outbox', '');

-- name: outbox_read(after_id, visit)
-- Unsettled rows after `after_id` in order, at most `visit`, for a relay that holds every lane.
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > :after_id::bigint
order by outbox_id
limit :visit::int;

-- name: outbox_read_lanes(after_id, visit, lane_mask)
-- The same for a relay that shares: visits at most `visit` rows and answers those of the lanes in the bit mask
-- `lane_mask`, and of the last one that was visited at least the id, so that the reader can go on behind it.
with edge as materialized (
  select max(outbox_id) as outbox_id from (
    select outbox_id from noetl.outbox
    where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > :after_id::bigint
    order by outbox_id
    limit :visit::int
  ) as visited
)
select case when (:lane_mask::bigint >> lane) & 1 = 1 then numbers else array[r.outbox_id] end as numbers,
  subject, payload, trace, event_type, stream_version
from noetl.relay_row r, edge
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and r.outbox_id > :after_id::bigint and r.outbox_id <= edge.outbox_id
  and ((:lane_mask::bigint >> lane) & 1 = 1 or r.outbox_id = edge.outbox_id)
order by r.outbox_id;

-- name: outbox_sweep(after, up_to, visit, lane_mask)
-- The same without contents, between `after` (exclusive) and `up_to`, visiting at most `visit`, lanes by the bit mask
-- `lane_mask`: what did the reader miss?
select outbox_id, execution_id, (status <> 'IN_FLIGHT' and available_at <= now()) as due,
  (:lane_mask::bigint >> noetl.lane_of(coalesce(execution_id, event_id))) & 1 = 1 as owned
from noetl.outbox
where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > :after::bigint and outbox_id <= :up_to::bigint
order by outbox_id
limit :visit::int;

-- name: outbox_read_earlier(execution_ids, up_to_id)
-- Ids of unsettled rows of the executions `execution_ids` up to `up_to_id`. One look into the index of each execution
-- (offset 0 keeps it so): the planner would rather walk everything behind the front.
select late.outbox_id from unnest(:execution_ids::bigint[]) as wanted (execution_id),
lateral (
  select outbox_id from noetl.outbox
  where execution_id = wanted.execution_id and outbox_id <= :up_to_id::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  offset 0
) as late;

-- name: outbox_read_ids(outbox_ids)
-- The unsettled ones of the rows `outbox_ids`, in order.
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
where outbox_id = any(:outbox_ids::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id;

-- name: outbox_read_execution(execution_id, limit_rows)
-- Unsettled rows of execution `execution_id` in order, at most `limit_rows`.
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
where execution_id = :execution_id::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
order by outbox_id
limit :limit_rows::int;

-- name: outbox_read_execution_with_dead(execution_id, limit_rows)
-- The same with dead rows in their place. Two questions, because there is one index for what is unsettled and one for
-- what is dead, and none for both.
select numbers, subject, payload, trace, event_type, stream_version
from noetl.relay_row
where outbox_id = any(
  array(
    select outbox_id from noetl.outbox
    where execution_id = :execution_id::bigint and status in ('PENDING', 'FAILED', 'IN_FLIGHT') order by outbox_id limit :limit_rows::int
  ) || array(
    select outbox_id from noetl.outbox
    where execution_id = :execution_id::bigint and status = 'DEAD' order by outbox_id limit :limit_rows::int
  )
) and status <> 'PUBLISHED'
order by outbox_id
limit :limit_rows::int;

-- name: outbox_settle(outbox_ids, seqs, owner, slots, tokens)
-- Marks rows `outbox_ids` (stream sequences `seqs`) published, as far as `owner` still holds their lanes `slots` with
-- `tokens`.
update noetl.outbox o
set status = 'PUBLISHED', published_at = now(), updated_at = now(), last_error = null, stream_seq = given.seq,
  attempts = o.attempts + 1, unanswered_since = null, lease_owner = null, lease_token = null, lease_until = null
from unnest(:outbox_ids::bigint[], :seqs::bigint[]) as given (outbox_id, seq)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((select noetl.held_slots('outbox', :owner::text, :slots::int[], :tokens::bigint[])) >> noetl.lane_of(coalesce(o.execution_id, o.event_id))) & 1 = 1;

-- name: outbox_fail(outbox_ids, statuses, waits_ms, errors, unanswered_ms, owner, slots, tokens)
-- Marks rows `outbox_ids` failed with status `statuses` (FAILED or DEAD), waits `waits_ms` (ms), `errors` and, where no
-- answer came, the ms since they were first sent `unanswered_ms`; fenced like outbox_settle by `owner`, `slots`,
-- `tokens`.
update noetl.outbox o
set status = given.status, attempts = o.attempts + 1, available_at = now() + given.wait_ms * interval '1 millisecond',
  last_error = given.error, updated_at = now(), unanswered_since = now() - given.unanswered_ms * interval '1 millisecond',
  lease_owner = null, lease_token = null, lease_until = null
from unnest(:outbox_ids::bigint[], :statuses::text[], :waits_ms::float8[], :errors::text[], :unanswered_ms::float8[])
  as given (outbox_id, status, wait_ms, error, unanswered_ms)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((select noetl.held_slots('outbox', :owner::text, :slots::int[], :tokens::bigint[])) >> noetl.lane_of(coalesce(o.execution_id, o.event_id))) & 1 = 1;

-- name: outbox_unanswered(outbox_ids, unanswered_ms, owner, slots, tokens)
-- The rows `outbox_ids` were first sent `unanswered_ms` ms ago and got no answer; fenced like outbox_settle by `owner`,
-- `slots`, `tokens`.
update noetl.outbox o
set unanswered_since = now() - given.unanswered_ms * interval '1 millisecond', updated_at = now()
from unnest(:outbox_ids::bigint[], :unanswered_ms::float8[]) as given (outbox_id, unanswered_ms)
where o.outbox_id = given.outbox_id
  and o.status in ('PENDING', 'FAILED', 'IN_FLIGHT')
  and ((select noetl.held_slots('outbox', :owner::text, :slots::int[], :tokens::bigint[])) >> noetl.lane_of(coalesce(o.execution_id, o.event_id))) & 1 = 1;

-- name: outbox_orphans(lanes, seconds_ago)
-- The newest unsettled row of each of the `lanes` that was there `seconds_ago` seconds ago; lanes without one are missing.
select given.lane, max(o.outbox_id) as newest
from unnest(:lanes::int[], :seconds_ago::float8[]) as given (lane, seconds_ago)
join noetl.outbox o on noetl.lane_of(coalesce(o.execution_id, o.event_id)) = given.lane
where o.status in ('PENDING', 'FAILED', 'IN_FLIGHT') and o.created_at <= now() - make_interval(secs => given.seconds_ago)
group by given.lane;

-- name: outbox_has_unsettled
-- Is anything left to publish?
select exists (select 1 from noetl.outbox where status in ('PENDING', 'FAILED', 'IN_FLIGHT')) as unsettled;

-- name: outbox_dead_executions(lanes)
-- Executions with a dead row in the `lanes`.
select distinct execution_id, noetl.lane_of(execution_id) as lane from noetl.outbox
where status = 'DEAD' and execution_id is not null
  and noetl.lane_of(execution_id) = any(:lanes::int[]);
