-- What the control plane adds to the event log: exact positions per execution, a read model of executions,
-- leases for machine ids, a quarantine for what cannot be projected. Nothing is renamed.

-- Events ----------------------------------------------------------------------------------------------

-- `stream_version` is dense per execution for everything appended through us. Rows written by others have
-- none until they are adopted; the partial index holds just those, so finding them costs O(new rows).
-- Not unique: the execution's lock makes versions dense, and a foreign writer must never be refused by an
-- index of ours.
create index if not exists event_stream_version_idx
  on noetl.event (execution_id, stream_version) where stream_version is not null;
create index if not exists event_unadopted_idx
  on noetl.event (execution_id, event_id) where stream_version is null;
-- By digest: an index entry has a largest size, and a foreign writer may use ids of any length.
create index if not exists event_command_claim_idx
  on noetl.event (execution_id, md5(meta ->> 'command_id')) where event_type in ('command.claimed', 'command_claimed');

-- Executions: the read model --------------------------------------------------------------------------

alter table noetl.execution
  add column if not exists path text,
  add column if not exists tenant_id text not null default 'default',
  add column if not exists organization_id text not null default 'default',
  -- The last stream_version given out; the row's lock is the lock of the execution.
  add column if not exists stream_version bigint not null default 0,
  add column if not exists event_count bigint not null default 0,
  -- Which events decided the columns beside them: this is what makes late and repeated events harmless.
  add column if not exists start_event_id bigint,
  add column if not exists terminal_event_id bigint,
  add column if not exists last_node_event_id bigint;

-- Most updates touch no indexed column; room on the page keeps them out of the indexes.
alter table noetl.execution set (fillfactor = 80);

-- An execution whose start event has not come (yet) is listed by the time we first heard of it.
create index if not exists execution_started_idx on noetl.execution (coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_status_idx on noetl.execution (status, coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_path_idx on noetl.execution (path text_pattern_ops, coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_catalog_idx on noetl.execution (catalog_id, coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_parent_idx on noetl.execution (parent_execution_id) where parent_execution_id is not null;

-- An adopted log: one row per execution it knows. Statuses follow the rules of the replay fold, profile cp.
with facts as (
  select
    execution_id,
    count(*) as events,
    min(event_id) filter (where event_type in ('playbook_started', 'playbook.started', 'playbook_initialized', 'playbook.initialized', 'subscription.registered')) as start_event_id,
    max(event_id) as last_event_id,
    max(event_id) filter (where event_type ~ '^(playbook|workflow|execution)[._](completed|failed|cancelled|canceled)$') as terminal_event_id,
    max(event_id) filter (where node_name is not null and event_type in ('step.enter', 'step_enter', 'step.started', 'step_started', 'step.exit', 'step_exit', 'step.completed', 'step_completed', 'command.completed', 'command_completed', 'action_completed')) as last_node_event_id,
    bool_or(event_type in ('playbook_started', 'playbook.started', 'playbook_initialized', 'playbook.initialized', 'workflow.initialized', 'workflow_initialized', 'workflow.started', 'workflow_started', 'execution.started', 'execution_started', 'stage.opened', 'frame.dispatched', 'step.enter', 'step_enter', 'step.started', 'step_started')) as is_running
  from noetl.event
  group by execution_id
)
insert into noetl.execution (
  execution_id, catalog_id, parent_execution_id, status, last_event_type, last_node_name, last_event_id,
  start_time, end_time, error, path, tenant_id, organization_id, event_count, start_event_id, terminal_event_id, last_node_event_id
)
select
  f.execution_id,
  coalesce(s.catalog_id, l.catalog_id, 0),
  s.parent_execution_id,
  case
    when t.event_type ~ 'completed$' then 'COMPLETED'
    when t.event_type ~ 'failed$' then 'FAILED'
    when t.event_type is not null then 'CANCELLED'
    when f.is_running then 'RUNNING'
    else 'UNKNOWN'
  end,
  l.event_type,
  n.node_name,
  f.last_event_id,
  s.created_at at time zone 'utc',
  t.created_at at time zone 'utc',
  case when t.event_type ~ 'failed$' then t.error end,
  s.context ->> 'path',
  coalesce(s.tenant_id, l.tenant_id),
  coalesce(s.organization_id, l.organization_id),
  f.events,
  f.start_event_id,
  f.terminal_event_id,
  f.last_node_event_id
from facts f
join noetl.event l on l.execution_id = f.execution_id and l.event_id = f.last_event_id
left join noetl.event s on s.execution_id = f.execution_id and s.event_id = f.start_event_id
left join noetl.event t on t.execution_id = f.execution_id and t.event_id = f.terminal_event_id
left join noetl.event n on n.execution_id = f.execution_id and n.event_id = f.last_node_event_id
on conflict (execution_id) do update set
  status = excluded.status,
  last_event_type = excluded.last_event_type,
  last_node_name = excluded.last_node_name,
  last_event_id = excluded.last_event_id,
  start_time = excluded.start_time,
  end_time = excluded.end_time,
  error = excluded.error,
  path = excluded.path,
  tenant_id = excluded.tenant_id,
  organization_id = excluded.organization_id,
  event_count = excluded.event_count,
  start_event_id = excluded.start_event_id,
  terminal_event_id = excluded.terminal_event_id,
  last_node_event_id = excluded.last_node_event_id;

-- Versions that another writer put there are not ours: everything is adopted anew, in id order.
update noetl.event set stream_version = null where stream_version is not null;

-- Outbox: a NULL execution would slip through the unique key ------------------------------------------

delete from noetl.outbox later
using noetl.outbox earlier
where later.execution_id is null and earlier.execution_id is null
  and later.event_id = earlier.event_id and later.outbox_id > earlier.outbox_id;
create unique index if not exists outbox_event_without_execution_key
  on noetl.outbox (event_id) where execution_id is null;
alter table noetl.outbox add column if not exists trace jsonb;

-- Catalog ---------------------------------------------------------------------------------------------

alter table noetl.catalog
  add column if not exists archived_at timestamptz,
  add column if not exists content_digest text;
create index if not exists catalog_created_idx on noetl.catalog (created_at desc, catalog_id desc);
create index if not exists catalog_kind_idx on noetl.catalog (lower(kind), created_at desc, catalog_id desc);

-- Deduplicated starts: one row per key, in the database of the execution it started --------------------

create table if not exists noetl.subscription_dedup (
  subscription_id bigint not null,
  dedup_key text not null,
  execution_id bigint not null,
  seen_at timestamptz not null default now(),
  primary key (subscription_id, dedup_key)
);
alter table noetl.subscription_dedup add column if not exists expires_at timestamptz;
create index if not exists subscription_dedup_expires_idx on noetl.subscription_dedup (expires_at);

-- Which installation wrote a message: consumers of several streams tell their own from foreign ones -------

create table if not exists noetl.cp_identity (
  only_row boolean primary key default true check (only_row),
  cluster_id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now()
);
insert into noetl.cp_identity default values on conflict do nothing;

-- Machine ids: two live daemons never mint with the same one (cluster database) ------------------------

create table if not exists noetl.machine_lease (
  machine_id smallint primary key check (machine_id between 0 and 1023),
  holder text not null,
  token bigint not null default 1,
  expires_at timestamptz not null,
  -- The highest id minted under this lease; the next holder starts above it.
  high_water bigint not null default 0,
  updated_at timestamptz not null default now()
);

-- Envelopes that could not be stored, each with its reason ---------------------------------------------

create table if not exists noetl.projector_quarantine (
  quarantine_id bigserial primary key,
  event_id bigint,
  execution_id bigint,
  -- As received; bytes, because not everything received is text.
  envelope bytea not null,
  reason text not null,
  source text not null,
  attempts integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index if not exists projector_quarantine_event_key
  on noetl.projector_quarantine (coalesce(execution_id, -1), coalesce(event_id, -1), md5(envelope));
