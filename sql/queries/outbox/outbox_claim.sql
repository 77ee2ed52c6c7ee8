-- name: outbox_claim_lanes
-- Locks up to $1 lanes that no live relay holds and that have something due, the one that has waited longest first; the
-- lanes $2 are held already. Lanes that another claim has locked are left to it. Until the end of the transaction no
-- relay can take one. `late`: a relay let its lease run out.
with due as materialized (
  select l.slot, least(
    (
      select available_at from noetl.outbox
      where noetl.lane_of(coalesce(execution_id, event_id)) = l.slot
        and status in ('PENDING', 'FAILED') and available_at <= now()
      order by available_at
      limit 1
    ),
    (
      select coalesce(lease_until, locked_at, '-infinity') from noetl.outbox
      where noetl.lane_of(coalesce(execution_id, event_id)) = l.slot
        and status = 'IN_FLIGHT' and coalesce(lease_until, locked_at, '-infinity') <= now()
      order by coalesce(lease_until, locked_at, '-infinity')
      limit 1
    )
  ) as since
  from noetl.lease l
  where l.kind = 'outbox' and (l.owner is null or l.lease_until < now()) and l.slot <> all($2::int[])
)
select l.slot as lane, l.owner is not null as late
from noetl.lease l join due on due.slot = l.slot
where l.kind = 'outbox' and due.since is not null and (l.owner is null or l.lease_until < now())
order by due.since
limit $1::int
for update of l skip locked;

-- name: outbox_claim_retire
-- The lanes $1 whose relay let its lease run out: its next renewal must fail, because rows of them are claimed now.
update noetl.lease set token = token + 1 where kind = 'outbox' and slot = any($1::int[]) and owner is not null;

-- name: outbox_claim_due
-- The rows of the lanes $1 that have been due longest, $2 in all, evenly from each lane as far as it has them; by
-- execution. Rows without one stand alone, each with its id.
select execution_id, case when execution_id is null then outbox_id end as outbox_id, count(*)::int as rows
from (
  select found.outbox_id, found.execution_id
  from unnest($1::int[]) as held (lane), lateral (
    (
      select outbox_id, execution_id, row_number() over (order by available_at, outbox_id) as place from noetl.outbox
      where noetl.lane_of(coalesce(execution_id, event_id)) = held.lane
        and status in ('PENDING', 'FAILED') and available_at <= now()
      order by available_at, outbox_id
      limit $2::int
    )
    union all
    (
      select outbox_id, execution_id,
        row_number() over (order by coalesce(lease_until, locked_at, '-infinity'), outbox_id) as place
      from noetl.outbox
      where noetl.lane_of(coalesce(execution_id, event_id)) = held.lane
        and status = 'IN_FLIGHT' and coalesce(lease_until, locked_at, '-infinity') <= now()
      order by coalesce(lease_until, locked_at, '-infinity'), outbox_id
      limit $2::int
    )
  ) as found
  order by found.place
  limit $2::int
) as due
group by 1, 2;

-- name: outbox_claim_heads
-- Executions after $1 (null: after one by chance) in the lanes $2 whose first unsettled row is due, at most $3. Goes from
-- execution to execution, however many rows each has, and visits at most $4. With $5 not those behind a dead row.
with recursive head as (
  (
    select execution_id, outbox_id, 1 as visits from noetl.outbox
    where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and execution_id > coalesce($1::bigint, (
      select (min(execution_id) + floor(random()::numeric * (max(execution_id) - min(execution_id)))) from noetl.outbox
      where status in ('PENDING', 'FAILED', 'IN_FLIGHT')
    )::bigint)
    order by execution_id, outbox_id
    limit 1
  )
  union all
  select next.execution_id, next.outbox_id, head.visits + 1
  from head, lateral (
    select execution_id, outbox_id from noetl.outbox
    where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and execution_id > head.execution_id
    order by execution_id, outbox_id
    limit 1
  ) as next
  where head.visits < $4::int
)
select head.execution_id from head join noetl.outbox o on o.outbox_id = head.outbox_id
where noetl.due_at(o) <= now() and noetl.lane_of(head.execution_id) = any($2::int[])
  and not ($5::boolean and exists (
    select 1 from noetl.outbox d where d.execution_id = head.execution_id and d.status = 'DEAD' and d.outbox_id < head.outbox_id
  ))
limit $3::int;

-- name: outbox_claim_runs
-- The first unsettled rows of the executions $1, as many of each as $2 says, and the rows $3, all in order: may each be
-- claimed, and is a dead row of its execution ahead (asked only when $4)?
select run.outbox_id, run.execution_id, run.bytes, run.claimable,
  $4::boolean and exists (
    select 1 from noetl.outbox d where d.execution_id = run.execution_id and d.status = 'DEAD' and d.outbox_id < run.outbox_id
  ) as behind_dead
from (
  select first.outbox_id, first.execution_id, first.bytes, first.claimable
  from unnest($1::bigint[], $2::int[]) as wanted (execution_id, rows), lateral (
    select outbox_id, execution_id, pg_column_size(payload) as bytes, noetl.due_at(o) <= now() as claimable
    from noetl.outbox o
    where execution_id = wanted.execution_id and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
    order by outbox_id
    limit wanted.rows
  ) as first
  union all
  select outbox_id, execution_id, pg_column_size(payload), noetl.due_at(o) <= now()
  from noetl.outbox o
  where outbox_id = any($3::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
) as run
order by run.outbox_id;

-- name: outbox_claim
-- Claims the rows $1 of executions $2 for $3 seconds, with a token that ends in the shard $4. A row that somebody
-- else has locked or settled is left out, and with it the later rows of its execution.
with locked as materialized (
  select outbox_id, execution_id from noetl.outbox o
  where outbox_id = any($1::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT') and noetl.due_at(o) <= now()
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
  select 1 from generate_series(0, 63) as every (lane), lateral (
    select 1 from noetl.outbox
    where noetl.lane_of(coalesce(execution_id, event_id)) = every.lane
      and status in ('PENDING', 'FAILED') and available_at <= now()
    union all
    select 1 from noetl.outbox o
    where noetl.lane_of(coalesce(execution_id, event_id)) = every.lane
      and status = 'IN_FLIGHT' and coalesce(lease_until, locked_at, '-infinity') <= now() and noetl.due_at(o) <= now()
  ) as one
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
