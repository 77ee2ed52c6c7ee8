-- The read model of executions, kept in the transaction of their events, and the keys of decisions made for them.

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
  add column if not exists last_node_event_id bigint,
  -- What began it: the start event alone tells a subscription from an execution. Both are kept as one, both may hold any
  -- later event, and the log may be gone before the row.
  add column if not exists start_event_type text,
  -- By which rules it is driven. Set by starts of this program alone; without it an execution is looked at and never
  -- decided for.
  add column if not exists engine smallint;

-- Most updates touch no indexed column; room on the page keeps them out of the indexes.
alter table noetl.execution set (fillfactor = 80);

-- An execution whose start event has not come (yet) is listed by the time we first heard of it.
create index if not exists execution_started_idx on noetl.execution (coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_status_idx on noetl.execution (status, coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_path_idx on noetl.execution (path text_pattern_ops, coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_catalog_idx on noetl.execution (catalog_id, coalesce(start_time, created_at) desc, execution_id desc);
create index if not exists execution_parent_idx on noetl.execution (parent_execution_id) where parent_execution_id is not null;
-- What has not ended, in id order: its size follows the running executions, never the history.
create index if not exists execution_active_idx on noetl.execution (execution_id)
  where status not in ('COMPLETED', 'FAILED', 'CANCELLED');

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
  start_time, end_time, error, path, tenant_id, organization_id, event_count, start_event_id, start_event_type,
  terminal_event_id, last_node_event_id
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
  s.event_type,
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
  start_event_type = excluded.start_event_type,
  terminal_event_id = excluded.terminal_event_id,
  last_node_event_id = excluded.last_node_event_id;

-- A decision is made once: its key is written in the transaction of its events. Kept while the execution runs.
create table if not exists noetl.decision_key (
  execution_id bigint not null,
  key text not null,
  -- The version of the state it was made on.
  version bigint not null,
  created_at timestamptz not null default now(),
  primary key (execution_id, key)
);
