-- name: command_insert
-- Commands that a decision has issued. Per command: execution $1, event of its command.issued $2, catalog entry $3, parent
-- execution $4, key $5, step $6, kind $7, pool $8, status $9, deadline $10 (milliseconds of the epoch), attempts $11, item
-- $12. Answers those that are new.
insert into noetl.command (
  command_id, event_id, execution_id, catalog_id, parent_execution_id, command_key, step_name, tool_kind, pool, status,
  deadline, max_attempts, iter_index, latest_event_id
)
select event_id, event_id, execution_id, catalog_id, parent_execution_id, command_key, step_name, tool_kind, pool, status,
  to_timestamp(deadline_ms / 1000.0), max_attempts, iter_index, event_id
from unnest(
  $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
  $10::double precision[], $11::int[], $12::int[]
) as given (
  execution_id, event_id, catalog_id, parent_execution_id, command_key, step_name, tool_kind, pool, status, deadline_ms,
  max_attempts, iter_index
)
on conflict (execution_id, command_key) do nothing
returning execution_id, command_key;

-- name: command_cancel
-- The open commands of executions $1, which have ended.
update noetl.command
set status = 'CANCELLED', completed_at = now(), updated_at = now()
where execution_id = any($1::bigint[]) and status in ('PENDING', 'CLAIMED', 'RUNNING', 'PARKED');

-- name: child_insert
-- Playbooks to be started by commands: parents $1, commands $2 (events of command.issued), children $3.
insert into noetl.child (parent_execution_id, command_id, child_execution_id)
select * from unnest($1::bigint[], $2::bigint[], $3::bigint[])
on conflict (parent_execution_id, command_id) do nothing;

-- name: command_named
-- The commands with keys $2 of executions $1 as they are now; whoever asks to change them holds the lock of their executions.
select c.execution_id, c.command_id, c.command_key, c.status, c.attempt, c.max_attempts, c.worker_id, c.lease_token,
  c.lease_seconds, extract(epoch from c.lease_until - clock_timestamp())::float8 as lease_left, c.data_attempt, c.error_attempt
from unnest($1::bigint[], $2::text[]) as given (execution_id, command_key)
join noetl.command c on c.execution_id = given.execution_id and c.command_key = given.command_key;

-- name: command_change
-- What reports did to commands: executions $1, ids $2, statuses $3, attempts $4, workers $5, lease tokens $6, seconds of
-- their leases from now on $7, attempts whose data $8 or error $9 has come, events $10, errors $11. Answers their leases.
update noetl.command c
set status = given.status, attempt = given.attempt, worker_id = given.worker_id, lease_token = given.lease_token,
  lease_seconds = given.lease_seconds, data_attempt = given.data_attempt, error_attempt = given.error_attempt,
  latest_event_id = coalesce(given.event_id, c.latest_event_id), error = coalesce(given.error, c.error), updated_at = now(),
  lease_until = case when given.status in ('CLAIMED', 'RUNNING') then clock_timestamp() + make_interval(secs => given.lease_seconds) end,
  claimed_at = case when given.lease_token is distinct from c.lease_token then clock_timestamp() else c.claimed_at end,
  started_at = case when given.status = 'RUNNING' and c.status <> 'RUNNING' then clock_timestamp() else c.started_at end,
  completed_at = case when given.status in ('COMPLETED', 'FAILED') then coalesce(c.completed_at, clock_timestamp()) end
from unnest(
  $1::bigint[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::int[], $8::int[], $9::int[], $10::bigint[],
  $11::text[]
) as given (
  execution_id, command_id, status, attempt, worker_id, lease_token, lease_seconds, data_attempt, error_attempt, event_id, error
)
where c.execution_id = given.execution_id and c.command_id = given.command_id
returning c.execution_id, c.command_id, c.lease_until::text as lease_until;

-- name: command_candidates
-- The commands of pools $1 that come first, at most $3, of kinds $2 (null for any). Who claims them decides the lock of their
-- executions: nothing is locked here, because whoever appends to an execution locks it before its commands.
select c.execution_id, c.command_id, c.command_key, c.step_name, c.tool_kind
from unnest($1::text[]) as given (pool)
cross join lateral (
  select execution_id, command_id, command_key, step_name, tool_kind, priority, event_id
  from noetl.command
  where status = 'PENDING' and pool = given.pool and ($2::text[] is null or tool_kind = any($2::text[]))
  order by priority desc, event_id
  limit $3::int
) c
order by c.priority desc, c.event_id
limit $3::int;

-- name: command_get
-- The command with id $1.
select c.execution_id, c.command_id, c.catalog_id, c.command_key, c.step_name, c.tool_kind, c.pool, c.status, c.worker_id, c.attempt,
  c.max_attempts, c.priority, c.lease_token, c.lease_until::text as lease_until, c.deadline::text as deadline, c.notify_count,
  c.created_at::text as created_at, c.claimed_at::text as claimed_at, c.started_at::text as started_at,
  c.completed_at::text as completed_at, c.error
from noetl.command c
where c.event_id = $1::bigint and c.command_key is not null;

-- name: command_beat
-- A sign of life of worker $3 for its commands $2 of executions $1. What is changed by somebody at this moment is left to them.
with held as (
  select c.execution_id, c.command_id
  from unnest($1::bigint[], $2::bigint[]) as given (execution_id, command_id)
  join noetl.command c on c.execution_id = given.execution_id and c.command_id = given.command_id
  where c.worker_id = $3::text and c.status in ('CLAIMED', 'RUNNING')
  for update of c skip locked
)
update noetl.command c
set lease_until = clock_timestamp() + make_interval(secs => c.lease_seconds), updated_at = now()
from held
where c.execution_id = held.execution_id and c.command_id = held.command_id
returning c.command_id;

-- name: command_states
-- How the commands $2 of executions $1 stand, and whether their executions have ended.
select c.execution_id, c.command_id, c.status, c.worker_id, c.lease_token, c.lease_until::text as lease_until,
  e.status as execution_status
from unnest($1::bigint[], $2::bigint[]) as given (execution_id, command_id)
join noetl.command c on c.execution_id = given.execution_id and c.command_id = given.command_id
join noetl.execution e on e.execution_id = c.execution_id;

-- name: command_list
-- Commands of execution $1, with status $2, of pool $3 (null for any), after id $4, at most $5, in the order of their ids.
select c.execution_id, c.command_id, c.catalog_id, c.command_key, c.step_name, c.tool_kind, c.pool, c.status, c.worker_id, c.attempt,
  c.max_attempts, c.priority, c.lease_token, c.lease_until::text as lease_until, c.deadline::text as deadline, c.notify_count,
  c.created_at::text as created_at, c.claimed_at::text as claimed_at, c.started_at::text as started_at,
  c.completed_at::text as completed_at, c.error
from noetl.command c
where ($1::bigint is null or c.execution_id = $1::bigint) and ($2::text is null or c.status = $2::text)
  and ($3::text is null or c.pool = $3::text) and c.event_id > $4::bigint and c.command_key is not null
order by c.event_id
limit $5::int;

-- name: command_requeue
-- Gives command $2 of execution $1 back to its pool, for another attempt. Its holder, if it lives, holds it no more.
update noetl.command
set status = 'PENDING', attempt = attempt + 1, max_attempts = greatest(max_attempts, attempt + 1), lease_until = null,
  notified_at = null, updated_at = now()
where execution_id = $1::bigint and command_id = $2::bigint and status in ('CLAIMED', 'RUNNING')
returning attempt;

-- name: command_extend
-- Extends leases that have run to half, of workers $1 that are alive and, by $2 in milliseconds of the epoch, have not started
-- anew since they claimed; not beyond $3 seconds after the claim unless the command itself has longer. At most $4.
with held as (
  select c.execution_id, c.command_id
  from noetl.command c
  join unnest($1::text[], $2::double precision[]) as alive (name, since_ms) on alive.name = c.worker_id
  where c.status in ('CLAIMED', 'RUNNING') and c.lease_until < now() + make_interval(secs => c.lease_seconds / 2.0)
    and c.claimed_at >= to_timestamp(alive.since_ms / 1000.0)
    and (c.claimed_at > now() - make_interval(secs => $3::double precision) or c.deadline > now())
  limit $4::int
  for update of c skip locked
)
update noetl.command c
set lease_until = now() + make_interval(secs => c.lease_seconds)
from held
where c.execution_id = held.execution_id and c.command_id = held.command_id;

-- name: command_reclaim
-- Takes back commands whose lease is over and that may be tried again, at most $1. Their workers are still named.
with lost as (
  select execution_id, command_id
  from noetl.command
  where status in ('CLAIMED', 'RUNNING') and lease_until < now() and attempt < max_attempts
  limit $1::int
  for update skip locked
)
update noetl.command c
set status = 'PENDING', attempt = c.attempt + 1, lease_until = null, notified_at = null, updated_at = now()
from lost
where c.execution_id = lost.execution_id and c.command_id = lost.command_id;

-- name: command_lost
-- Commands whose lease is over and whose attempts are used up, at most $1.
select execution_id, command_id, command_key, step_name, tool_kind, attempt, worker_id
from noetl.command
where status in ('CLAIMED', 'RUNNING') and lease_until < now() and attempt >= max_attempts
limit $1::int;

-- name: command_overdue
-- Executions with open commands whose time has passed $2 seconds ago and that nobody has ended, at most $1.
select distinct execution_id
from noetl.command
where deadline < now() - make_interval(secs => $2::double precision) and status in ('PENDING', 'CLAIMED', 'RUNNING', 'PARKED')
limit $1::int;

-- name: command_counts
-- How many commands are open, by status, and for how long the oldest of them has waited.
select status, count(*)::int as commands, extract(epoch from now() - min(created_at))::float8 as oldest_seconds
from noetl.command
where status in ('PENDING', 'CLAIMED', 'RUNNING') and command_key is not null
group by status;
