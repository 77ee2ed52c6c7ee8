-- name: child_due
-- Up to $1 children that are to be looked at. Each is due again after $2 seconds, whoever looks.
with due as (
  select parent_execution_id, command_id from noetl.child
  where state <> 'DONE' and due_at <= now()
  order by due_at
  limit $1::int
  for update skip locked
)
update noetl.child x set due_at = now() + make_interval(secs => $2::double precision), updated_at = now()
from due
where x.parent_execution_id = due.parent_execution_id and x.command_id = due.command_id
returning x.parent_execution_id, x.command_id, x.child_execution_id, x.state,
  extract(epoch from now() - x.created_at)::double precision as age_seconds;

-- name: child_of_ended
-- Open children of which one of the executions $1 is the child or the parent: it has ended.
select parent_execution_id, command_id, child_execution_id, state,
  extract(epoch from now() - created_at)::double precision as age_seconds
from noetl.child
where state <> 'DONE' and child_execution_id = any($1::bigint[])
union
select parent_execution_id, command_id, child_execution_id, state,
  extract(epoch from now() - created_at)::double precision as age_seconds
from noetl.child
where state <> 'DONE' and parent_execution_id = any($1::bigint[]);

-- name: child_started
-- The child of command $2 of execution $1 runs, and is waited for.
update noetl.child set state = 'STARTED', attempts = 0, last_error = null, updated_at = now()
where parent_execution_id = $1::bigint and command_id = $2::bigint and state = 'PENDING';

-- name: child_done
-- Nothing more is to be done for command $2 of execution $1; answers nothing when that was so before.
update noetl.child set state = 'DONE', updated_at = now()
where parent_execution_id = $1::bigint and command_id = $2::bigint and state <> 'DONE'
returning command_id;

-- name: child_postpone
-- Something went wrong ($3) with the child of command $2 of execution $1: later again, ever later.
update noetl.child
set attempts = attempts + 1, last_error = $3::text, updated_at = now(),
  due_at = now() + make_interval(secs => least(60, power(2, least(attempts, 6))))
where parent_execution_id = $1::bigint and command_id = $2::bigint and state <> 'DONE';

-- name: child_executions
-- What is known of the executions $1, parents and children alike.
select x.execution_id, x.status, x.path, x.error, x.terminal_event_id, x.start_event_id, x.tenant_id, x.organization_id,
  x.parent_execution_id, (extract(epoch from x.end_time - x.start_time) * 1000)::double precision as duration_ms
from noetl.execution x
where x.execution_id = any($1::bigint[]);

-- name: child_command
-- The command of a parent, locked: execution $1, event of its command.issued $2.
select command_key, status, step_name from noetl.command
where execution_id = $1::bigint and command_id = $2::bigint
for update;

-- name: child_answer
-- Ends the command $2 of execution $1: status $3, by event $4, with error $5.
update noetl.command
set status = $3::text, completed_at = now(), updated_at = now(), latest_event_id = $4::bigint, error = $5::text
where execution_id = $1::bigint and command_id = $2::bigint;
