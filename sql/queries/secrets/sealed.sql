-- name: seal_key_note(key_id)
-- Key `key_id` seals from now on.
insert into noetl.seal_key (key_id) values (:key_id::text) on conflict (key_id) do nothing;

-- name: seal_key_list
-- Every key that ever sealed something here.
select key_id, first_used_at::text as first_used_at from noetl.seal_key order by seal_key.first_used_at, key_id;

-- name: event_sealed(execution_ids, event_ids)
-- The events `event_ids` of executions `execution_ids` with their sealed secrets; for the engine and for a worker's
-- claim alone.
select e.execution_id, e.event_id, e.catalog_id, e.parent_event_id, e.parent_execution_id, e.event_type, e.node_id, e.node_name,
  e.node_type, e.status, e.worker_id, e.duration, e.context, e.result, e.meta, e.error, e.stack_trace, e.tenant_id,
  e.organization_id, e.created_at::text as created_at, e.sealed
from unnest(:execution_ids::bigint[], :event_ids::bigint[]) as given (execution_id, event_id)
join noetl.event e on e.execution_id = given.execution_id and e.event_id = given.event_id
order by e.event_id;
