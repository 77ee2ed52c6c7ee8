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

-- name: command_fail
-- The commands with keys $2 of the executions $1, given up by events $3 with errors $4, if they are still open.
update noetl.command c
set status = 'FAILED', completed_at = now(), updated_at = now(), latest_event_id = given.event_id, error = given.error
from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) as given (execution_id, command_key, event_id, error)
where c.execution_id = given.execution_id and c.command_key = given.command_key
  and c.status not in ('COMPLETED', 'FAILED', 'CANCELLED');

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
