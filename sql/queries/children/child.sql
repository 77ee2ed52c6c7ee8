-- name: child_due(limit_rows, again_after_seconds)
-- Up to `limit_rows` children that are to be looked at. Each is due again after `again_after_seconds`, whoever looks.
with due as (
  select parent_execution_id, command_id from noetl.child
  where state <> 'DONE' and due_at <= now()
  order by due_at
  limit :limit_rows::int
  for update skip locked
)
update noetl.child x set due_at = now() + make_interval(secs => :again_after_seconds::double precision)
from due
where x.parent_execution_id = due.parent_execution_id and x.command_id = due.command_id
returning x.parent_execution_id, x.command_id, x.child_execution_id, x.state;

-- name: child_of_ended(execution_ids)
-- Open children of which one of the executions `execution_ids` is the child or the parent: it has ended.
select parent_execution_id, command_id, child_execution_id, state
from noetl.child
where state <> 'DONE' and child_execution_id = any(:execution_ids::bigint[])
union
select parent_execution_id, command_id, child_execution_id, state
from noetl.child
where state <> 'DONE' and parent_execution_id = any(:execution_ids::bigint[]);

-- name: child_begin(parent, command_id)
-- Somebody begins to start the child of command `command_id` of execution `parent`; answers nothing when it is not to be
-- started any more.
update noetl.child set updated_at = now()
where parent_execution_id = :parent::bigint and command_id = :command_id::bigint and state = 'PENDING'
returning command_id;

-- name: child_abandon(parent, command_id, seconds)
-- The child of command `command_id` of execution `parent` is not to be started any more, unless somebody began to do so within
-- the last `seconds`.
update noetl.child set state = 'DONE', updated_at = now()
where parent_execution_id = :parent::bigint and command_id = :command_id::bigint and state <> 'DONE'
  and updated_at < now() - make_interval(secs => :seconds::double precision);

-- name: child_started(parent, command_id)
-- The child of command `command_id` of execution `parent` runs, and is waited for.
update noetl.child set state = 'STARTED', attempts = 0, last_error = null, updated_at = now()
where parent_execution_id = :parent::bigint and command_id = :command_id::bigint and state = 'PENDING';

-- name: child_done(parent, command_id)
-- Nothing more is to be done for command `command_id` of execution `parent`; answers nothing when that was so before.
update noetl.child set state = 'DONE', updated_at = now()
where parent_execution_id = :parent::bigint and command_id = :command_id::bigint and state <> 'DONE'
returning command_id;

-- name: child_postpone(parent, command_id, why)
-- Something went wrong (`why`) with the child of command `command_id` of execution `parent`: later again, ever later.
update noetl.child
set attempts = attempts + 1, last_error = :why::text, updated_at = now(),
  due_at = now() + make_interval(secs => least(60, power(2, least(attempts, 6))))
where parent_execution_id = :parent::bigint and command_id = :command_id::bigint and state <> 'DONE';

-- name: child_executions(execution_ids)
-- What is known of the executions `execution_ids`, parents and children alike.
select x.execution_id, x.status, x.path, x.error, x.terminal_event_id, x.start_event_id, x.tenant_id, x.organization_id,
  x.parent_execution_id, (extract(epoch from x.end_time - x.start_time) * 1000)::double precision as duration_ms
from noetl.execution x
where x.execution_id = any(:execution_ids::bigint[]);

-- name: child_command(parent, command_id)
-- The command of a parent, locked: execution `parent`, event of its command.issued `command_id`.
select command_key, status, step_name from noetl.command
where execution_id = :parent::bigint and command_id = :command_id::bigint
for update;

-- name: child_answer(parent, command_id, status, event_id, error)
-- Ends the command `command_id` of execution `parent`: `status`, by event `event_id`, with `error`.
update noetl.command
set status = :status::text, completed_at = now(), updated_at = now(), latest_event_id = :event_id::bigint, error = :error::text
where execution_id = :parent::bigint and command_id = :command_id::bigint;
