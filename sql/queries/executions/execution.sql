-- name: execution_lock
-- Locks the executions $1 in a fixed order and reads what an append needs of them.
select
  execution_id, catalog_id, status, stream_version, event_count, last_event_id, last_event_type, last_node_name,
  last_node_event_id, start_event_id, terminal_event_id, tenant_id, organization_id, error, path, parent_execution_id,
  start_time::text as start_time, end_time::text as end_time, start_event_type, engine
from noetl.execution
where execution_id = any($1::bigint[])
order by execution_id
for update;

-- name: execution_create
-- Makes the executions $1 (ids) of catalog entries $2 with paths $3, parents $4, tenants $5, organisations $6, driven by the
-- engine of version $7, unless they exist.
insert into noetl.execution (execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, engine, status)
select execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, engine, 'UNKNOWN'
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::smallint[])
  as given (execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, engine)
order by execution_id
on conflict (execution_id) do nothing;

-- name: execution_update
-- Writes the read model of locked executions: one array per column, $1 are the ids.
update noetl.execution x
set
  stream_version = given.stream_version,
  event_count = given.event_count,
  status = given.status,
  last_event_id = given.last_event_id,
  last_event_type = given.last_event_type,
  last_node_name = given.last_node_name,
  last_node_event_id = given.last_node_event_id,
  start_event_id = given.start_event_id,
  start_event_type = given.start_event_type,
  terminal_event_id = given.terminal_event_id,
  start_time = given.start_time,
  end_time = given.end_time,
  error = given.error,
  catalog_id = given.catalog_id,
  path = given.path,
  parent_execution_id = given.parent_execution_id,
  tenant_id = given.tenant_id,
  organization_id = given.organization_id,
  updated_at = now()
from unnest(
  $1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
  $9::bigint[], $10::bigint[], $11::timestamptz[], $12::timestamptz[], $13::text[], $14::bigint[], $15::text[], $16::bigint[],
  $17::text[], $18::text[], $19::text[]
) as given (
  execution_id, stream_version, event_count, status, last_event_id, last_event_type, last_node_name, last_node_event_id,
  start_event_id, terminal_event_id, start_time, end_time, error, catalog_id, path, parent_execution_id,
  tenant_id, organization_id, start_event_type
)
where x.execution_id = given.execution_id;

-- name: execution_get
-- One execution of the read model.
select
  execution_id, catalog_id, path, parent_execution_id, status, last_event_type, last_node_name, last_event_id,
  start_time::text as start_time, end_time::text as end_time, error, tenant_id, organization_id, stream_version,
  event_count, start_event_id, start_event_type, updated_at::text as updated_at, engine
from noetl.execution
where execution_id = $1::bigint;

-- name: execution_list
-- A page of executions, newest first: filters status $1, catalog $2, path pattern $3 (LIKE), since $4, until $5;
-- starts after the position ($6 time, $7 id); at most $8 rows. Without a start time the time of the first news counts.
-- A subscription, which its start event tells, is no execution though it is kept like one.
-- plan: each time
select
  execution_id, catalog_id, path, parent_execution_id, status, last_event_type, last_node_name, last_event_id,
  start_time::text as start_time, end_time::text as end_time, error, tenant_id, organization_id, stream_version,
  event_count, start_event_id, start_event_type, updated_at::text as updated_at, engine,
  coalesce(start_time, created_at)::text as listed_at
from noetl.execution
where coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
  and ($1::text is null or status = $1)
  and ($2::bigint is null or catalog_id = $2)
  and ($3::text is null or path like $3)
  and ($4::timestamptz is null or coalesce(start_time, created_at) >= $4)
  and ($5::timestamptz is null or coalesce(start_time, created_at) < $5)
  and ($6::timestamptz is null or (coalesce(start_time, created_at), execution_id) < ($6::timestamptz, $7::bigint))
order by coalesce(start_time, created_at) desc, execution_id desc
limit $8::int;

-- name: execution_children
-- Children of the executions $1 with ids after $2, in order, at most $3; also those that have ended.
select execution_id, status from noetl.execution
where parent_execution_id = any($1::bigint[]) and execution_id > $2::bigint
order by execution_id
limit $3::int;
