-- name: seal_key_note
-- Key $1 seals from now on.
insert into noetl.seal_key (key_id) values ($1::text) on conflict (key_id) do nothing;

-- name: seal_key_list
-- Every key that ever sealed something here.
select key_id, first_used_at::text as first_used_at from noetl.seal_key order by first_used_at, key_id;

-- name: event_sealed
-- The events $2 of executions $1 with their sealed secrets; for the engine and for a worker's claim alone.
select e.execution_id, e.event_id, e.catalog_id, e.parent_event_id, e.parent_execution_id, e.event_type, e.node_id, e.node_name,
  e.node_type, e.status, e.worker_id, e.duration, e.context, e.result, e.meta, e.error, e.stack_trace, e.tenant_id,
  e.organization_id, e.created_at::text as created_at, e.sealed
from unnest($1::bigint[], $2::bigint[]) as given (execution_id, event_id)
join noetl.event e on e.execution_id = given.execution_id and e.event_id = given.event_id
order by e.event_id;
