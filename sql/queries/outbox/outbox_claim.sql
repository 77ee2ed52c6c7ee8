-- name: outbox_claim_turn
-- One claim over HTTP at a time per database; the others wait here, for a moment.
select pg_advisory_xact_lock(hashtextextended('noetl-cp outbox claim', 0));

-- name: outbox_claim_lanes
-- Lanes that no live relay holds. Locked, so that none can take one until the claim is committed.
select lane from noetl.outbox_lane
where owner is null or lease_until < now()
order by lane
for update skip locked;

-- name: outbox_claim_retire
-- The lanes $1 whose relay let its lease run out: its next renewal must fail, because rows of them are claimed now.
update noetl.outbox_lane set token = token + 1 where lane = any($1::smallint[]) and owner is not null;

-- name: outbox_claim_scan
-- Unsettled rows after $1 in order, visiting at most $2, of lanes $3: may each be claimed, and is a dead row of its
-- execution ahead (asked only when $4)?
select v.outbox_id, v.execution_id, v.bytes, v.claimable, coalesce(dead.outbox_id < v.outbox_id, false) as behind_dead,
  (hashint8extended(coalesce(v.execution_id, v.event_id), 0) & 63)::smallint = any($3::smallint[]) as free
from (
  select outbox_id, execution_id, event_id, pg_column_size(payload) as bytes,
    case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) <= now()
      else available_at <= now() end as claimable
  from noetl.outbox
  where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > $1::bigint
  order by outbox_id
  limit $2::int
) as v
left join (
  select execution_id, min(outbox_id) as outbox_id from noetl.outbox
  where status = 'DEAD' and $4::boolean
  group by execution_id
) as dead on dead.execution_id = v.execution_id
order by v.outbox_id;

-- name: outbox_claim
-- Claims the rows $1 of executions $2 for $3 seconds, with a token that ends in the shard $4. A row that somebody
-- else has locked or settled is left out, and with it the later rows of its execution.
with locked as materialized (
  select outbox_id, execution_id from noetl.outbox
  where outbox_id = any($1::bigint[])
    and (
      status in ('PENDING', 'FAILED') and available_at <= now()
      or status = 'IN_FLIGHT' and coalesce(lease_until, locked_at + interval '15 seconds', now()) <= now()
    )
  order by outbox_id
  for update skip locked
),
missed as (
  select given.execution_id, min(given.outbox_id) as outbox_id
  from unnest($1::bigint[], $2::bigint[]) as given (outbox_id, execution_id)
  left join locked on locked.outbox_id = given.outbox_id
  where locked.outbox_id is null
  group by given.execution_id
),
lease as materialized (
  select nextval('noetl.outbox_lease_token') * 1024 + $4::int as token,
    clock_timestamp() + make_interval(secs => $3::double precision) as until
)
update noetl.outbox o
set status = 'IN_FLIGHT', attempts = o.attempts + 1, locked_at = clock_timestamp(), updated_at = clock_timestamp(),
  lease_owner = 'http', lease_token = lease.token, lease_until = lease.until
from locked left join missed on missed.execution_id = locked.execution_id, lease
where o.outbox_id = locked.outbox_id and (missed.outbox_id is null or missed.outbox_id > locked.outbox_id)
returning o.outbox_id, o.event_id, o.execution_id, o.subject, o.payload, o.payload_codec, o.attempts, o.lease_token;

-- name: outbox_mark_published
-- Marks the rows $1 published, with the lease tokens $2 (null: claimed over HTTP and the lease still runs) and the
-- stream sequences $3.
with given as materialized (
  select o.outbox_id, given.seq
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as given (outbox_id, token, seq)
  join noetl.outbox o on o.outbox_id = given.outbox_id
  where o.status = 'IN_FLIGHT' and o.lease_owner = 'http'
    and (o.lease_token = given.token or given.token is null and o.lease_until > now())
  order by o.outbox_id
  for update of o
)
update noetl.outbox o
set status = 'PUBLISHED', published_at = now(), updated_at = now(), last_error = null, stream_seq = given.seq,
  unanswered_since = null, lease_owner = null, lease_token = null, lease_until = null
from given
where o.outbox_id = given.outbox_id
returning o.outbox_id;

-- name: outbox_mark_failed
-- Marks row $1 failed, under the lease token $2 like outbox_mark_published: waits by its own attempts, at most $3
-- seconds, or is dead after $4 attempts. Answers the wait in seconds.
update noetl.outbox
set status = case when attempts >= $4::int then 'DEAD' else 'FAILED' end,
  available_at = now() + make_interval(secs => least($3::bigint, 2 ^ least(8, greatest(0, attempts - 1)))),
  last_error = left(case when attempts >= $4::int then 'gave up after ' || attempts || ' attempts: ' else '' end || $5::text, 2000),
  updated_at = now(), lease_owner = null, lease_token = null, lease_until = null
where outbox_id = $1::bigint and status = 'IN_FLIGHT' and lease_owner = 'http'
  and (lease_token = $2::bigint or $2::bigint is null and lease_until > now())
returning status, least($3::bigint, 2 ^ least(8, greatest(0, attempts - 1)))::int as wait_seconds;

-- name: outbox_pending
-- Rows that could be published now: due, or abandoned by whoever claimed them. Counted up to $1.
select count(*)::int as pending from (
  select 1 from noetl.outbox
  where status in ('PENDING', 'FAILED', 'IN_FLIGHT')
    and case when status = 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now()) <= now()
      else available_at <= now() end
  limit $1::int
) as due;

-- name: outbox_payload
-- The text of the message of event $2 of execution $1 (null: of none).
select payload::text as payload from noetl.outbox
where execution_id is not distinct from $1::bigint and event_id = $2::bigint
limit 1;

-- name: outbox_event
-- Event $2 of execution $1, to write its message again.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, event_type, node_id,
  node_name, node_type, status, worker_id, duration, context, result, meta, error, stack_trace, tenant_id,
  organization_id, stream_version, created_at::text as created_at
from noetl.event
where execution_id = $1::bigint and event_id = $2::bigint;
