-- name: outbox_claim_lanes(limit_rows, held)
-- Locks up to `limit_rows` lanes that no live relay holds and that have something due, the one that has waited longest
-- first; the lanes `held` are held already. Lanes that another claim has locked are left to it. Until the end of the
-- transaction no relay can take one. `late`: a relay let its lease run out.
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
  where l.kind = 'outbox' and (l.owner is null or l.lease_until < now()) and l.slot <> all(:held::int[])
)
select l.slot as lane, l.owner is not null as late
from noetl.lease l join due on due.slot = l.slot
where l.kind = 'outbox' and due.since is not null and (l.owner is null or l.lease_until < now())
order by due.since
limit :limit_rows::int
for update of l skip locked;

-- name: outbox_claim_retire(lanes)
-- The `lanes` whose relay let its lease run out: its next renewal must fail, because rows of them are claimed now.
update noetl.lease set token = token + 1 where kind = 'outbox' and slot = any(:lanes::int[]) and owner is not null;

-- name: outbox_claim_due(lanes, limit_rows)
-- The rows of the `lanes` that have been due longest, `limit_rows` in all, evenly from each lane as far as it has them;
-- by execution. Rows without one stand alone, each with its id.
select execution_id, case when execution_id is null then outbox_id end as outbox_id, count(*)::int as rows
from (
  select found.outbox_id, found.execution_id
  from unnest(:lanes::int[]) as held (lane), lateral (
    (
      select outbox_id, execution_id, row_number() over (order by available_at, outbox_id) as place from noetl.outbox
      where noetl.lane_of(coalesce(execution_id, event_id)) = held.lane
        and status in ('PENDING', 'FAILED') and available_at <= now()
      order by available_at, outbox_id
      limit :limit_rows::int
    )
    union all
    (
      select outbox_id, execution_id,
        row_number() over (order by coalesce(lease_until, locked_at, '-infinity'), outbox_id) as place
      from noetl.outbox
      where noetl.lane_of(coalesce(execution_id, event_id)) = held.lane
        and status = 'IN_FLIGHT' and coalesce(lease_until, locked_at, '-infinity') <= now()
      order by coalesce(lease_until, locked_at, '-infinity'), outbox_id
      limit :limit_rows::int
    )
  ) as found
  order by found.place
  limit :limit_rows::int
) as due
group by 1, 2;

-- name: outbox_claim_heads(after, lanes, limit_rows, visits, hold_behind_dead)
-- Executions `after` (null: after one by chance) in the `lanes` whose first unsettled row is due, at most `limit_rows`.
-- Goes from execution to execution, however many rows each has, and visits at most `visits`. With `hold_behind_dead` not
-- those behind a dead row.
with recursive head as (
  (
    select execution_id, outbox_id, 1 as visits from noetl.outbox
    where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and execution_id > coalesce(:after::bigint, (
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
  where head.visits < :visits::int
)
select head.execution_id from head join noetl.outbox o on o.outbox_id = head.outbox_id
where noetl.due_at(o) <= now() and noetl.lane_of(head.execution_id) = any(:lanes::int[])
  and not (:hold_behind_dead::boolean and exists (
    select 1 from noetl.outbox d where d.execution_id = head.execution_id and d.status = 'DEAD' and d.outbox_id < head.outbox_id
  ))
limit :limit_rows::int;

-- name: outbox_claim_runs(execution_ids, rows, outbox_ids, hold_behind_dead)
-- The first unsettled rows of the executions `execution_ids`, as many of each as `rows` says, and the rows `outbox_ids`,
-- all in order: may each be claimed, and is a dead row of its execution ahead (asked only when `hold_behind_dead`)?
select run.outbox_id, run.execution_id, run.bytes, run.claimable,
  :hold_behind_dead::boolean and exists (
    select 1 from noetl.outbox d where d.execution_id = run.execution_id and d.status = 'DEAD' and d.outbox_id < run.outbox_id
  ) as behind_dead
from (
  select first.outbox_id, first.execution_id, first.bytes, first.claimable
  from unnest(:execution_ids::bigint[], :rows::int[]) as wanted (execution_id, rows), lateral (
    select outbox_id, execution_id, pg_column_size(payload) as bytes, noetl.due_at(o) <= now() as claimable
    from noetl.outbox o
    where execution_id = wanted.execution_id and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
    order by outbox_id
    limit wanted.rows
  ) as first
  union all
  select outbox_id, execution_id, pg_column_size(payload), noetl.due_at(o) <= now()
  from noetl.outbox o
  where outbox_id = any(:outbox_ids::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT')
) as run
order by run.outbox_id;

-- name: outbox_claim(outbox_ids, execution_ids, lease_seconds, shard)
-- Claims the rows `outbox_ids` of executions `execution_ids` for `lease_seconds`, with a token that ends in the `shard`.
-- A row that somebody else has locked or settled is left out, and with it the later rows of its execution.
with locked as materialized (
  select outbox_id, execution_id from noetl.outbox o
  where outbox_id = any(:outbox_ids::bigint[]) and status in ('PENDING', 'FAILED', 'IN_FLIGHT') and noetl.due_at(o) <= now()
  order by outbox_id
  for update skip locked
),
missed as (
  select given.execution_id, min(given.outbox_id) as outbox_id
  from unnest(:outbox_ids::bigint[], :execution_ids::bigint[]) as given (outbox_id, execution_id)
  left join locked on locked.outbox_id = given.outbox_id
  where locked.outbox_id is null
  group by given.execution_id
),
lease as materialized (
  select nextval('noetl.outbox_lease_token') * 1024 + :shard::int as token,
    clock_timestamp() + make_interval(secs => :lease_seconds::double precision) as until
)
update noetl.outbox o
set status = 'IN_FLIGHT', attempts = o.attempts + 1, locked_at = clock_timestamp(), updated_at = clock_timestamp(),
  lease_owner = 'http', lease_token = lease.token, lease_until = lease.until
from locked left join missed on missed.execution_id = locked.execution_id, lease
where o.outbox_id = locked.outbox_id and (missed.outbox_id is null or missed.outbox_id > locked.outbox_id)
returning o.outbox_id, o.event_id, o.execution_id, o.subject, o.payload, o.payload_codec, o.attempts, o.lease_token;

-- name: outbox_mark_published(outbox_ids, tokens, seqs)
-- Marks the rows `outbox_ids` published, with the lease `tokens` (null: claimed over HTTP and the lease still runs) and
-- the stream sequences `seqs`. `lease_owner` stays: it tells who published the row.
with given as materialized (
  select o.outbox_id, given.seq
  from unnest(:outbox_ids::bigint[], :tokens::bigint[], :seqs::bigint[]) as given (outbox_id, token, seq)
  join noetl.outbox o on o.outbox_id = given.outbox_id
  where o.status = 'IN_FLIGHT' and o.lease_owner = 'http'
    and (o.lease_token = given.token or given.token is null and o.lease_until > now())
  order by o.outbox_id
  for update of o
)
update noetl.outbox o
set status = 'PUBLISHED', published_at = now(), updated_at = now(), last_error = null, stream_seq = given.seq,
  unanswered_since = null, lease_token = null, lease_until = null
from given
where o.outbox_id = given.outbox_id
returning o.outbox_id;

-- name: outbox_mark_failed(outbox_id, token, max_delay_seconds, attempts_max, error)
-- Marks row `outbox_id` failed, under the lease `token` like outbox_mark_published: waits by its own attempts, at most
-- `max_delay_seconds`, or is dead after `attempts_max` attempts. Answers the wait in seconds.
update noetl.outbox
set status = case when attempts >= :attempts_max::int then 'DEAD' else 'FAILED' end,
  available_at = now() + make_interval(secs => least(:max_delay_seconds::bigint, 2 ^ least(8, greatest(0, attempts - 1)))),
  last_error = left(case when attempts >= :attempts_max::int then 'gave up after ' || attempts || ' attempts: ' else '' end || :error::text, 2000),
  updated_at = now(), lease_owner = null, lease_token = null, lease_until = null
where outbox_id = :outbox_id::bigint and status = 'IN_FLIGHT' and lease_owner = 'http'
  and (lease_token = :token::bigint or :token::bigint is null and lease_until > now())
returning status, least(:max_delay_seconds::bigint, 2 ^ least(8, greatest(0, attempts - 1)))::int as wait_seconds;

-- name: outbox_pending(up_to)
-- Rows that could be published now: due, or abandoned by whoever claimed them. Counted up to `up_to`.
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
  limit :up_to::int
) as due;

-- name: outbox_payload(execution_id, event_id)
-- The text of the message of event `event_id` of execution `execution_id` (null: of none).
select payload::text as payload from noetl.outbox
where execution_id is not distinct from :execution_id::bigint and event_id = :event_id::bigint
limit 1;

-- name: outbox_event(execution_id, event_id)
-- Event `event_id` of execution `execution_id`, to write its message again.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, prev_event_id, event_type, node_id,
  node_name, node_type, status, worker_id, duration, context, result, meta, error, stack_trace, tenant_id,
  organization_id, stream_version, created_at::text as created_at
from noetl.event
where execution_id = :execution_id::bigint and event_id = :event_id::bigint;
