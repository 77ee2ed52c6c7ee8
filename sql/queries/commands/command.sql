-- name: command_insert(
--   execution_ids, event_ids, catalog_ids, parent_execution_ids, keys, steps, kinds, pools, statuses, deadlines_ms,
--   max_attempts, indexes, priorities, worker_ids, lease_seconds, latest_event_ids
-- )
-- Commands that a decision has issued. Per command: execution `execution_ids`, event of its command.issued `event_ids`,
-- catalog entry `catalog_ids`, parent execution `parent_execution_ids`, key `keys`, step `steps`, kind `kinds`, pool
-- `pools`, status `statuses`, deadline `deadlines_ms` (milliseconds of the epoch), attempts `max_attempts`, item
-- `indexes`, priority `priorities`, its worker `worker_ids` for `lease_seconds` if it is handed over, and the last event about it
-- `latest_event_ids`. A second command with the same key is an error: somebody decided by other rules. Answers their leases.
insert into noetl.command (
  command_id, event_id, execution_id, catalog_id, parent_execution_id, command_key, step_name, tool_kind, pool, status,
  deadline, max_attempts, iter_index, latest_event_id, priority, worker_id, lease_seconds, lease_token, lease_until, claimed_at
)
select event_id, event_id, execution_id, catalog_id, parent_execution_id, command_key, step_name, tool_kind, pool, status,
  to_timestamp(deadline_ms / 1000.0), max_attempts, iter_index, latest_event_id, priority, worker_id, lease_seconds,
  case when worker_id is not null then 1 end, clock_timestamp() + make_interval(secs => lease_seconds),
  case when worker_id is not null then clock_timestamp() end
from unnest(
  :execution_ids::bigint[], :event_ids::bigint[], :catalog_ids::bigint[], :parent_execution_ids::bigint[], :keys::text[], :steps::text[], :kinds::text[], :pools::text[], :statuses::text[],
  :deadlines_ms::double precision[], :max_attempts::int[], :indexes::int[], :priorities::int[], :worker_ids::text[], :lease_seconds::int[], :latest_event_ids::bigint[]
) as given (
  execution_id, event_id, catalog_id, parent_execution_id, command_key, step_name, tool_kind, pool, status, deadline_ms,
  max_attempts, iter_index, priority, worker_id, lease_seconds, latest_event_id
)
returning command_id, lease_until::text as lease_until;

-- name: command_cancel(execution_ids)
-- The open commands of executions `execution_ids`, which have ended.
update noetl.command
set status = 'CANCELLED', completed_at = now(), updated_at = now()
where execution_id = any(:execution_ids::bigint[]) and status in ('PENDING', 'CLAIMED', 'RUNNING', 'PARKED');

-- name: child_insert(execution_ids, event_ids, child_execution_ids)
-- Playbooks to be started by commands: parents `execution_ids`, commands `event_ids` (events of command.issued),
-- children `child_execution_ids`.
insert into noetl.child (parent_execution_id, command_id, child_execution_id)
select * from unnest(:execution_ids::bigint[], :event_ids::bigint[], :child_execution_ids::bigint[])
on conflict (parent_execution_id, command_id) do nothing;

-- name: command_named(execution_ids, command_ids)
-- The commands with keys `command_ids` of executions `execution_ids` as they are now, and until the end of the transaction, which
-- holds the lock of their executions.
select c.execution_id, c.command_id, c.command_key, c.status, c.attempt, c.max_attempts, c.worker_id, c.lease_token,
  c.lease_seconds, extract(epoch from c.lease_until - clock_timestamp())::float8 as lease_left, c.data_attempt, c.error_attempt
from unnest(:execution_ids::bigint[], :command_ids::text[]) as given (execution_id, command_key)
join noetl.command c on c.execution_id = given.execution_id and c.command_key = given.command_key
order by c.execution_id, c.command_id
for update of c;

-- part: CHANGED
set status = given.status, attempt = given.attempt, worker_id = given.worker_id, lease_token = given.lease_token,
  lease_seconds = given.lease_seconds, data_attempt = given.data_attempt, error_attempt = given.error_attempt,
  latest_event_id = coalesce(given.event_id, c.latest_event_id), error = coalesce(given.error, c.error), updated_at = now(),
  lease_until = case when given.status in ('CLAIMED', 'RUNNING') then clock_timestamp() + make_interval(secs => given.lease_seconds) end,
  claimed_at = case when given.lease_token is distinct from c.lease_token then clock_timestamp() else c.claimed_at end,
  started_at = case when given.status = 'RUNNING' and c.status <> 'RUNNING' then clock_timestamp() else c.started_at end,
  completed_at = case when given.status in ('COMPLETED', 'FAILED') then coalesce(c.completed_at, clock_timestamp()) end;

-- name: command_change(
--   execution_ids, keys, status, attempts, worker_ids, lease_tokens, lease_seconds, data_attempts,
--   error_attempts, event_ids, errors
-- )
-- What reports did to commands: executions `execution_ids`, `keys`, statuses `status`, `attempts`, workers
-- `worker_ids`, lease tokens `lease_tokens`, seconds of their leases from now on `lease_seconds`, attempts whose data
-- `data_attempts` or error `error_attempts` has come, events `event_ids`, `errors`. Whoever changes them has locked them.
-- Answers their leases.
update noetl.command c
:CHANGED
from unnest(
  :execution_ids::bigint[], :keys::text[], :status::text[], :attempts::int[], :worker_ids::text[], :lease_tokens::bigint[], :lease_seconds::int[], :data_attempts::int[], :error_attempts::int[], :event_ids::bigint[],
  :errors::text[]
) as given (
  execution_id, command_key, status, attempt, worker_id, lease_token, lease_seconds, data_attempt, error_attempt, event_id, error
)
where c.execution_id = given.execution_id and c.command_key = given.command_key
returning c.execution_id, c.command_id, c.lease_until::text as lease_until;

-- name: command_change_one(
--   execution_id, key, status, attempt, worker_id, lease_token, lease_seconds, data_attempt, error_attempt, event_id, error
-- )
-- The same for one command, as nearly always: only the partition of `execution_id` is opened.
update noetl.command c
:CHANGED
from (
  select :status::text as status, :attempt::int as attempt, :worker_id::text as worker_id, :lease_token::bigint as lease_token,
    :lease_seconds::int as lease_seconds, :data_attempt::int as data_attempt, :error_attempt::int as error_attempt,
    :event_id::bigint as event_id, :error::text as error
) as given
where c.execution_id = :execution_id::bigint and c.command_key = :key::text
returning c.execution_id, c.command_id, c.lease_until::text as lease_until;

-- name: command_candidates(pools, kinds, limit_rows, full_paths)
-- plan: by key
-- The commands of `pools` that come first, at most `limit_rows`, of `kinds` (null for any) and of no playbook with a path in
-- `full_paths`. Who claims them decides the lock of their executions: nothing is locked here, because whoever appends to an
-- execution locks it before its commands.
select c.execution_id, c.command_id, c.command_key, c.step_name, c.tool_kind, c.pool, e.path
from unnest(:pools::text[]) as given (pool)
cross join lateral (
  select execution_id, command_id, command_key, step_name, tool_kind, pool, priority, event_id
  from noetl.command q
  where status = 'PENDING' and q.pool = given.pool and (:kinds::text[] is null or tool_kind = any(:kinds::text[]))
    and (cardinality(:full_paths::text[]) = 0
      or not exists (select from noetl.execution x where x.execution_id = q.execution_id and x.path = any(:full_paths::text[])))
  order by priority desc, event_id
  limit :limit_rows::int
) c
join noetl.execution e on e.execution_id = c.execution_id
order by c.priority desc, c.event_id
limit :limit_rows::int;

-- name: command_claimable(execution_id, keys)
-- What decides whether commands `keys` of execution `execution_id` may be handed out now.
select c.command_key, c.status, c.pool, c.worker_id, e.path
from noetl.command c
join noetl.execution e on e.execution_id = c.execution_id
where c.execution_id = :execution_id::bigint and c.command_key = any(:keys::text[]);

-- name: command_held(pools, paths)
-- How many commands workers hold, of each of the `pools` and of playbooks with each of the `paths`.
select 'pool' as scope, c.pool as name, count(*)::int as commands
from noetl.command c
where c.status in ('CLAIMED', 'RUNNING') and c.pool = any(:pools::text[])
group by c.pool
union all
select 'path', e.path, count(*)::int
from noetl.command c join noetl.execution e on e.execution_id = c.execution_id
where c.status in ('CLAIMED', 'RUNNING') and cardinality(:paths::text[]) > 0 and e.path = any(:paths::text[])
group by e.path;

-- name: command_waiting(seconds)
-- Pools with commands that have waited for more than `seconds`: how many, and how long the oldest.
select pool, count(*)::int as commands, extract(epoch from now() - min(created_at))::float8 as oldest_seconds
from noetl.command
where status = 'PENDING' and command_key is not null and created_at < now() - make_interval(secs => :seconds::double precision)
group by pool
order by pool;

-- name: command_limits
-- Limits of pools and paths that there are; a row stays when its limit is lifted.
select scope, name, commands_max, paused_at::text as paused_at, reason
from noetl.command_limit
where commands_max is not null or paused_at is not null
order by scope, name;

-- name: command_limit_lock
-- Only one process at a time hands out what is limited; until the end of the transaction.
select pg_advisory_xact_lock(hashtext('noetl.command_limit'));

-- name: command_limit_set(scope, name, commands_max)
-- At most `commands_max` commands at a time (null: any number) of the pool or path `name`.
insert into noetl.command_limit (scope, name, commands_max) values (:scope::text, :name::text, :commands_max::int)
on conflict (scope, name) do update set commands_max = excluded.commands_max, updated_at = now();

-- name: command_pause(pool, reason)
-- The `pool` is paused for this `reason`, from now on or since it was first paused.
insert into noetl.command_limit (scope, name, paused_at, reason) values ('pool', :pool::text, now(), :reason::text)
on conflict (scope, name) do update
  set paused_at = coalesce(noetl.command_limit.paused_at, now()), reason = excluded.reason, updated_at = now();

-- name: command_resume(pool)
-- The `pool` goes on.
update noetl.command_limit set paused_at = null, reason = null, updated_at = now()
where scope = 'pool' and name = :pool::text and paused_at is not null;

-- name: command_get(command_id)
-- The command with id `command_id`.
select c.execution_id, c.command_id, c.catalog_id, c.command_key, c.step_name, c.tool_kind, c.pool, c.status, c.worker_id, c.attempt,
  c.max_attempts, c.priority, c.lease_token, c.lease_until::text as lease_until, c.deadline::text as deadline, c.notify_count,
  c.created_at::text as created_at, c.claimed_at::text as claimed_at, c.started_at::text as started_at,
  c.completed_at::text as completed_at, c.error, e.path
from noetl.command c
join noetl.execution e on e.execution_id = c.execution_id
where c.event_id = :command_id::bigint and c.command_key is not null;

-- name: command_beat(execution_ids, command_ids, lease_tokens, worker_id)
-- A sign of life of worker `worker_id` for its commands `command_ids` of executions `execution_ids`, which it holds by
-- `lease_tokens` (null: by whichever). What is changed by somebody at this moment is left to them.
with held as (
  select c.execution_id, c.command_id
  from unnest(:execution_ids::bigint[], :command_ids::bigint[], :lease_tokens::bigint[]) as given (execution_id, command_id, lease_token)
  join noetl.command c on c.execution_id = given.execution_id and c.command_id = given.command_id
  where c.worker_id = :worker_id::text and c.status in ('CLAIMED', 'RUNNING')
    and c.lease_token = coalesce(given.lease_token, c.lease_token)
  for update of c skip locked
)
update noetl.command c
set lease_until = clock_timestamp() + make_interval(secs => c.lease_seconds), updated_at = now()
from held
where c.execution_id = held.execution_id and c.command_id = held.command_id
returning c.command_id;

-- name: command_states(execution_ids, command_ids)
-- How the commands `command_ids` of executions `execution_ids` stand, and whether their executions have ended.
select c.execution_id, c.command_id, c.status, c.worker_id, c.lease_token, c.lease_until::text as lease_until,
  e.status as execution_status
from unnest(:execution_ids::bigint[], :command_ids::bigint[]) as given (execution_id, command_id)
join noetl.command c on c.execution_id = given.execution_id and c.command_id = given.command_id
join noetl.execution e on e.execution_id = c.execution_id;

-- name: command_list(execution_id, status, pool, event_id, limit_rows)
-- Commands of execution `execution_id`, with `status`, of `pool` (null for any), after id `event_id`, at most
-- `limit_rows`, in the order of their ids.
select c.execution_id, c.command_id, c.catalog_id, c.command_key, c.step_name, c.tool_kind, c.pool, c.status, c.worker_id, c.attempt,
  c.max_attempts, c.priority, c.lease_token, c.lease_until::text as lease_until, c.deadline::text as deadline, c.notify_count,
  c.created_at::text as created_at, c.claimed_at::text as claimed_at, c.started_at::text as started_at,
  c.completed_at::text as completed_at, c.error, e.path
from noetl.command c
join noetl.execution e on e.execution_id = c.execution_id
where (:execution_id::bigint is null or c.execution_id = :execution_id::bigint) and (:status::text is null or c.status = :status::text)
  and (:pool::text is null or c.pool = :pool::text) and c.event_id > :event_id::bigint and c.command_key is not null
order by c.event_id
limit :limit_rows::int;

-- name: command_requeue(execution_id, command_id, worker_id, lease_token)
-- Gives command `command_id` of execution `execution_id` back to its pool, for another attempt; only what `worker_id` holds by
-- `lease_token`, where these are given. Its holder, if it lives, holds it no more.
update noetl.command
set status = 'PENDING', attempt = attempt + 1, max_attempts = greatest(max_attempts, attempt + 1), lease_until = null,
  notified_at = null, updated_at = now()
where execution_id = :execution_id::bigint and command_id = :command_id::bigint and status in ('CLAIMED', 'RUNNING')
  and worker_id is not distinct from coalesce(:worker_id::text, worker_id)
  and lease_token is not distinct from coalesce(:lease_token::bigint, lease_token)
returning attempt;

-- name: command_strays(worker_id, command_ids, seconds)
-- Gives back what worker `worker_id` has held for `seconds` and does not know of: all but `command_ids`. The commit of their
-- claim was never answered.
with stray as (
  select execution_id, command_id
  from noetl.command
  where status in ('CLAIMED', 'RUNNING') and worker_id = :worker_id::text and not command_id = any(:command_ids::bigint[])
    and claimed_at < now() - make_interval(secs => :seconds::double precision)
  for update skip locked
)
update noetl.command c
set status = 'PENDING', attempt = c.attempt + 1, max_attempts = greatest(c.max_attempts, c.attempt + 1), lease_until = null,
  notified_at = null, updated_at = now()
from stray
where c.execution_id = stray.execution_id and c.command_id = stray.command_id;

-- name: command_extend(workers, since_ms, seconds_max, limit_rows)
-- Extends leases that have run to half, of `workers` that are alive and, by `since_ms` in milliseconds of the epoch,
-- have not started anew since they claimed; not beyond `seconds_max` seconds after the claim unless the command itself
-- has longer. At most `limit_rows`.
with held as (
  select c.execution_id, c.command_id
  from noetl.command c
  join unnest(:workers::text[], :since_ms::double precision[]) as alive (name, since_ms) on alive.name = c.worker_id
  where c.status in ('CLAIMED', 'RUNNING') and c.lease_until < now() + make_interval(secs => c.lease_seconds / 2.0)
    and c.claimed_at >= to_timestamp(alive.since_ms / 1000.0)
    and (c.claimed_at > now() - make_interval(secs => :seconds_max::double precision) or c.deadline > now())
  limit :limit_rows::int
  for update of c skip locked
)
update noetl.command c
set lease_until = now() + make_interval(secs => c.lease_seconds)
from held
where c.execution_id = held.execution_id and c.command_id = held.command_id;

-- name: command_reclaim(limit_rows)
-- Takes back commands whose lease is over and that may be tried again, at most `limit_rows`. Their workers are still
-- named.
with lost as (
  select execution_id, command_id
  from noetl.command
  where status in ('CLAIMED', 'RUNNING') and lease_until < now() and attempt < max_attempts
  limit :limit_rows::int
  for update skip locked
)
update noetl.command c
set status = 'PENDING', attempt = c.attempt + 1, lease_until = null, notified_at = null, updated_at = now()
from lost
where c.execution_id = lost.execution_id and c.command_id = lost.command_id;

-- name: command_lost(limit_rows)
-- Commands whose lease is over and whose attempts are used up, at most `limit_rows`.
select execution_id, command_id, command_key, step_name, tool_kind, attempt, worker_id
from noetl.command
where status in ('CLAIMED', 'RUNNING') and lease_until < now() and attempt >= max_attempts
limit :limit_rows::int;

-- name: command_unnoticed(seconds, limit_rows)
-- Commands that nobody has taken, to be told of again: at once when they were taken back, else every `seconds`; at most
-- `limit_rows`.
with waiting as (
  select execution_id, command_id
  from noetl.command
  where status = 'PENDING' and command_key is not null
    and case when notified_at is null and attempt > 1 then true
      else coalesce(notified_at, created_at) < now() - make_interval(secs => :seconds::double precision) end
  limit :limit_rows::int
  for update skip locked
)
update noetl.command c
set notified_at = now(), notify_count = c.notify_count + 1
from waiting
where c.execution_id = waiting.execution_id and c.command_id = waiting.command_id
returning c.execution_id, c.command_id, c.command_key, c.step_name, c.pool, c.attempt, c.notify_count;

-- name: command_overdue(limit_rows, seconds)
-- Executions with open commands whose time has passed `seconds` ago and that nobody has ended, at most `limit_rows`.
select distinct execution_id
from noetl.command
where deadline < now() - make_interval(secs => :seconds::double precision) and status in ('PENDING', 'CLAIMED', 'RUNNING', 'PARKED')
limit :limit_rows::int;

-- name: command_counts
-- How many commands are open, by status, and for how long the oldest of them has waited.
select status, count(*)::int as commands, extract(epoch from now() - min(created_at))::float8 as oldest_seconds
from noetl.command
where status in ('PENDING', 'CLAIMED', 'RUNNING') and command_key is not null
group by status;
