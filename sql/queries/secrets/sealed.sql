-- name: seal_key_note
-- Key $1 seals from now on.
insert into noetl.seal_key (key_id) values ($1::text) on conflict (key_id) do nothing;

-- name: seal_key_list
-- Every key that ever sealed something here.
select key_id, first_used_at::text as first_used_at from noetl.seal_key order by first_used_at, key_id;

-- name: event_sealed
-- The events $2 of execution $1 with their sealed secrets; for the engine and for a worker's claim alone.
select execution_id, event_id, catalog_id, parent_event_id, parent_execution_id, event_type, node_id, node_name, node_type,
  status, worker_id, duration, context, result, meta, error, stack_trace, tenant_id, organization_id,
  created_at::text as created_at, sealed
from noetl.event
where execution_id = $1::bigint and event_id = any($2::bigint[])
order by event_id;
