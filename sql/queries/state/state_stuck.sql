-- name: state_stuck_events(execution_id, event_ids)
-- When the events `event_ids` of execution `execution_id` happened, what their meta says about worker and pool, and whether
-- the command that one has issued waits in its pool, whoever has claimed it before.
select e.event_id, e.created_at::text as created_at,
  extract(epoch from (now() at time zone 'utc') - e.created_at)::float8 as age_seconds,
  e.worker_id, e.meta ->> 'execution_pool' as pool, coalesce(c.status = 'PENDING', false) as is_waiting
from noetl.event e left join noetl.command c on c.execution_id = e.execution_id and c.event_id = e.event_id
where e.execution_id = :execution_id::bigint and e.event_id = any(:event_ids::bigint[]);

-- name: state_stuck_claims(execution_id, command_ids)
-- Who claimed the commands `command_ids` of execution `execution_id`.
select e.meta ->> 'command_id' as command_id, coalesce(e.worker_id, e.meta ->> 'worker_id') as worker_id,
  extract(epoch from (now() at time zone 'utc') - e.created_at)::float8 as age_seconds
from unnest(:command_ids::text[]) as given (command_id)
join noetl.event e on e.execution_id = :execution_id::bigint and e.event_type in ('command.claimed', 'command_claimed')
  and md5(e.meta ->> 'command_id') = md5(given.command_id);

-- name: state_stuck_outbox(execution_id, limit_rows)
-- The first `limit_rows` rows of execution `execution_id` that are not published, in order.
select outbox_id, event_id, status, attempts, last_error, extract(epoch from now() - created_at)::float8 as age_seconds,
  extract(epoch from available_at - now())::float8 as wait_seconds,
  extract(epoch from lease_until - now())::float8 as lease_seconds
from noetl.outbox
where execution_id = :execution_id::bigint and status <> 'PUBLISHED'
order by outbox_id
limit :limit_rows::int;

-- name: state_stuck_transaction(older_than_seconds)
-- The transaction that has been open for longest and has written something, if it is older than `older_than_seconds`:
-- what it wrote is not visible yet, and what it locked nobody else can write.
select pid, usename, application_name, state, extract(epoch from now() - xact_start)::float8 as age_seconds, left(query, 200) as query
from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and backend_xid is not null
  and xact_start < now() - make_interval(secs => :older_than_seconds::double precision)
order by xact_start
limit 1;

-- name: state_stuck_pools
-- Workers (cluster database), the pool that each works for and how long ago it was heard of.
select name, coalesce(labels ->> 'pool_name', name) as pool, status, extract(epoch from now() - heartbeat)::float8 as age_seconds
from noetl.runtime where kind = 'worker_pool' order by heartbeat desc limit 200;

-- name: state_stuck_subscription(execution_id, parent_execution_id)
-- The subscription (cluster database) that execution `execution_id` is, if it is not active, or that started it
-- (`parent_execution_id`), if it is paused. One that was drained has done its part.
select subscription_id, path, state, reason, paused_until::text as paused_until
from noetl.subscription
where subscription_id = :execution_id::bigint and state <> 'ACTIVE' or subscription_id = :parent_execution_id::bigint and state = 'PAUSED'
limit 1;

-- name: state_stuck_commands(alive, older_than_seconds, limit_rows)
-- Commands that nobody works on: in a pool that is not among those that are `alive`, or of a worker that was not heard of since
-- its claim ended; each for longer than `older_than_seconds`, at most `limit_rows` of a kind.
with recursive pools as (
  (select pool from noetl.command where status = 'PENDING' and pool is not null order by pool limit 1)
  union all
  select (select c.pool from noetl.command c where c.status = 'PENDING' and c.pool > pools.pool order by c.pool limit 1)
  from pools where pools.pool is not null
)
(
  select waiting.execution_id, pools.pool, null as worker_id
  from pools
  cross join lateral (
    select c.execution_id, c.created_at from noetl.command c
    where c.status = 'PENDING' and c.pool = pools.pool order by c.priority desc, c.event_id limit :limit_rows::int
  ) as waiting
  where not pools.pool = any(:alive::text[]) and waiting.created_at < now() - make_interval(secs => :older_than_seconds::double precision)
  limit :limit_rows
)
union all
(
  select execution_id, pool, worker_id from noetl.command
  where status in ('CLAIMED', 'RUNNING') and lease_until < now() - make_interval(secs => :older_than_seconds)
  order by lease_until limit :limit_rows
);

-- name: state_stuck_executions(engine, failed_types, failed_seconds, quiet_seconds, looked_at_max, limit_rows)
-- Executions that stand still although none of their commands is with anybody: begun for another version of the engine than
-- `engine`; not driven by any, with a failure (`failed_types`) as the last event for `failed_seconds`; or without an event for
-- `quiet_seconds`. Of what has not ended the oldest `looked_at_max` are looked at, at most `limit_rows` are told.
select execution_id, engine, extract(epoch from now() - updated_at)::float8 as quiet_seconds,
  last_event_type = any(:failed_types::text[]) as has_failed
from (
  select execution_id, engine, updated_at, last_event_type, start_event_type
  from noetl.execution
  where status not in (:TERMINAL_STATUSES)
  order by execution_id
  limit :looked_at_max::int
) as open
where start_event_type is distinct from 'subscription.registered'
  and (
    engine <> :engine::smallint
    or engine is null and last_event_type = any(:failed_types) and updated_at < now() - make_interval(secs => :failed_seconds::double precision)
    or updated_at < now() - make_interval(secs => :quiet_seconds::double precision) and not exists (
      select from noetl.command c
      where c.execution_id = open.execution_id and c.status in ('PENDING', 'CLAIMED', 'RUNNING', 'PARKED')
    )
  )
order by execution_id
limit :limit_rows::int;

-- name: state_stuck_parents(execution_ids)
-- Which of `execution_ids` have started others that have not ended.
select distinct parent_execution_id as execution_id
from noetl.execution
where parent_execution_id = any(:execution_ids::bigint[]) and status not in (:TERMINAL_STATUSES);
