-- The tables of NoETL that the control plane works on, with their original names and columns.
-- Written so that an existing NoETL database is adopted: nothing is renamed, dropped columns do not
-- exist, and every statement may meet a table that is already there.

create schema if not exists noetl;

-- Cluster-wide tables -------------------------------------------------------------------------------

create table if not exists noetl.resource (
  name text primary key,
  meta jsonb
);

insert into noetl.resource (name)
values ('playbook'), ('credential'), ('mcp'), ('agent'), ('memory'), ('subscription')
on conflict do nothing;

create table if not exists noetl.catalog (
  catalog_id bigint primary key,
  path text not null,
  version integer not null,
  kind text not null references noetl.resource (name),
  content text,
  layout jsonb,
  payload jsonb,
  meta jsonb,
  created_at timestamp without time zone not null default (now() at time zone 'utc'),
  credential_id bigint,
  unique (path, version)
);

create table if not exists noetl.runtime (
  runtime_id bigint primary key,
  name text not null,
  kind text not null check (kind in ('worker_pool', 'server_api', 'broker')),
  uri text,
  status text not null,
  labels jsonb,
  capabilities jsonb,
  capacity integer,
  runtime jsonb,
  heartbeat timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (kind, name)
);

-- Per-execution tables ------------------------------------------------------------------------------

create table if not exists noetl.event (
  execution_id bigint not null,
  event_id bigint not null,
  catalog_id bigint not null,
  parent_event_id bigint,
  parent_execution_id bigint,
  created_at timestamp without time zone not null default (now() at time zone 'utc'),
  event_type varchar,
  node_id varchar,
  node_name varchar,
  node_type varchar,
  status varchar,
  worker_id varchar,
  duration double precision,
  context jsonb,
  result jsonb,
  meta jsonb,
  trace_component jsonb,
  error text,
  stack_trace text,
  current_index integer,
  current_item text,
  distributed_state varchar,
  context_key varchar,
  context_value text,
  tenant_id text not null default 'default',
  organization_id text not null default 'default',
  stream_id text,
  stream_version bigint,
  aggregate_id text,
  aggregate_type text,
  schema_name text,
  schema_version integer not null default 1,
  event_time timestamptz not null default now(),
  ingest_time timestamptz not null default now(),
  producer text,
  causation_id text,
  correlation_id text,
  idempotency_key text,
  payload_ref jsonb,
  envelope_checksum text,
  prev_event_id bigint,
  command_id bigint,
  stage_id bigint,
  frame_id bigint,
  primary key (execution_id, event_id)
) partition by range (execution_id);

-- Rows outside every range land here instead of being refused; the daemon makes ranges ahead of time.
create table if not exists noetl.event_default partition of noetl.event default;

create table if not exists noetl.command (
  command_id bigint not null,
  event_id bigint not null,
  execution_id bigint not null,
  catalog_id bigint not null,
  parent_execution_id bigint,
  parent_command_id bigint,
  step_name text not null,
  tool_kind text,
  status text not null default 'PENDING',
  worker_id text,
  claimed_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  attempt integer not null default 1,
  context jsonb,
  context_key text,
  loop_event_id text,
  iter_index integer,
  meta jsonb,
  result jsonb,
  error text,
  latest_event_id bigint,
  prev_event_id bigint,
  stage_id bigint,
  frame_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (execution_id, command_id)
) partition by hash (execution_id);

do $$
begin
  -- An adopted table brings its own partitions.
  if not exists (select 1 from pg_inherits where inhparent = 'noetl.command'::regclass) then
    for i in 0..15 loop
      execute format(
        'create table noetl.command_p%s partition of noetl.command for values with (modulus 16, remainder %s)', i, i);
    end loop;
  end if;
end $$;

create table if not exists noetl.execution (
  execution_id bigint primary key,
  catalog_id bigint not null,
  parent_execution_id bigint,
  status varchar not null,
  last_event_type varchar,
  last_node_name varchar,
  last_event_id bigint,
  start_time timestamptz,
  end_time timestamptz,
  error text,
  state jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table if not exists noetl.outbox (
  outbox_id bigserial primary key,
  execution_id bigint,
  event_id bigint not null,
  subject text,
  payload jsonb not null,
  payload_bytes bytea,
  payload_codec text not null default 'json',
  status text not null default 'PENDING',
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  locked_at timestamptz,
  published_at timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (execution_id, event_id)
);

create table if not exists noetl.projection_snapshot (
  aggregate_id text not null,
  aggregate_type text not null,
  tenant_id text not null default 'default',
  organization_id text not null default 'default',
  version bigint not null,
  snapshot jsonb not null,
  checksum text not null,
  meta jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, organization_id, aggregate_type, aggregate_id)
);

create table if not exists noetl.projection (
  projection_id text primary key,
  projection_type text not null,
  tenant_id text not null default 'default',
  organization_id text not null default 'default',
  execution_id bigint,
  version bigint not null,
  source_event_id bigint,
  state jsonb not null,
  checksum text not null,
  meta jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Adoption: columns that came to NoETL over time; an older database gets what it lacks ------------------

do $$
begin
  if not exists (select 1 from pg_attribute where attrelid = 'noetl.event'::regclass and attname = 'event_time' and not attisdropped) then
    alter table noetl.event add column event_time timestamptz;
    -- The log's own time is the truth about old rows, not the hour of the migration.
    update noetl.event set event_time = created_at at time zone 'utc';
    alter table noetl.event alter column event_time set default now(), alter column event_time set not null;
  end if;
end $$;

alter table noetl.event
  add column if not exists trace_component jsonb,
  add column if not exists stack_trace text,
  add column if not exists current_index integer,
  add column if not exists current_item text,
  add column if not exists distributed_state varchar,
  add column if not exists context_key varchar,
  add column if not exists context_value text,
  add column if not exists tenant_id text not null default 'default',
  add column if not exists organization_id text not null default 'default',
  add column if not exists stream_id text,
  add column if not exists stream_version bigint,
  add column if not exists aggregate_id text,
  add column if not exists aggregate_type text,
  add column if not exists schema_name text,
  add column if not exists schema_version integer not null default 1,
  add column if not exists ingest_time timestamptz not null default now(),
  add column if not exists producer text,
  add column if not exists causation_id text,
  add column if not exists correlation_id text,
  add column if not exists idempotency_key text,
  add column if not exists payload_ref jsonb,
  add column if not exists envelope_checksum text,
  add column if not exists prev_event_id bigint,
  add column if not exists command_id bigint,
  add column if not exists stage_id bigint,
  add column if not exists frame_id bigint;

alter table noetl.command
  add column if not exists parent_execution_id bigint,
  add column if not exists parent_command_id bigint,
  add column if not exists context_key text,
  add column if not exists loop_event_id text,
  add column if not exists iter_index integer,
  add column if not exists meta jsonb,
  add column if not exists result jsonb,
  add column if not exists error text,
  add column if not exists latest_event_id bigint,
  add column if not exists prev_event_id bigint,
  add column if not exists stage_id bigint,
  add column if not exists frame_id bigint;

alter table noetl.execution
  add column if not exists parent_execution_id bigint,
  add column if not exists last_event_type varchar,
  add column if not exists last_node_name varchar,
  add column if not exists last_event_id bigint,
  add column if not exists start_time timestamptz,
  add column if not exists end_time timestamptz,
  add column if not exists error text,
  add column if not exists state jsonb,
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists updated_at timestamptz not null default now();

alter table noetl.outbox
  add column if not exists subject text,
  add column if not exists payload_bytes bytea,
  add column if not exists payload_codec text not null default 'json',
  add column if not exists locked_at timestamptz,
  add column if not exists last_error text;

alter table noetl.catalog
  add column if not exists layout jsonb,
  add column if not exists payload jsonb,
  add column if not exists meta jsonb,
  add column if not exists credential_id bigint;

-- Adoption: what a sharded layout cannot hold, and what stands in the way of correct data -------------

do $$
declare
  found record;
begin
  -- A shard has no catalog table rows to point at.
  for found in
    select conrelid::regclass as tbl, conname
    from pg_constraint
    where contype = 'f' and confrelid = 'noetl.catalog'::regclass and conparentid = 0
      and conrelid in ('noetl.event'::regclass, 'noetl.execution'::regclass)
  loop
    execute format('alter table %s drop constraint %I', found.tbl, found.conname);
  end loop;

  -- A 16-bit version ends at 32,767.
  if (select atttypid from pg_attribute where attrelid = 'noetl.catalog'::regclass and attname = 'version') = 'int2'::regtype then
    alter table noetl.catalog alter column version type integer;
  end if;
end $$;
