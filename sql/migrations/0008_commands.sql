-- Commands as rows that workers can claim, and the playbooks that steps have started.

-- `command_key` is the text by which workers know the command; `command_id` is the id of its command.issued event.
alter table noetl.command
  add column if not exists command_key text,
  add column if not exists pool text,
  add column if not exists deadline timestamptz,
  add column if not exists max_attempts integer not null default 3,
  add column if not exists lease_until timestamptz,
  add column if not exists lease_token bigint,
  -- What the holder asked for; every sign of life gives it again.
  add column if not exists lease_seconds integer,
  -- Higher comes first.
  add column if not exists priority smallint not null default 0,
  -- The attempt whose call.done, or call.error, is in the log: the first of an attempt counts.
  add column if not exists data_attempt integer not null default 0,
  add column if not exists error_attempt integer not null default 0,
  add column if not exists notified_at timestamptz,
  add column if not exists notify_count integer not null default 0;

create unique index if not exists command_key_idx on noetl.command (execution_id, command_key);
create index if not exists command_queue_idx on noetl.command (pool, priority desc, event_id) where status = 'PENDING';
create index if not exists command_lease_idx on noetl.command (lease_until) where status in ('CLAIMED', 'RUNNING');
create index if not exists command_deadline_idx on noetl.command (deadline)
  where deadline is not null and status in ('PENDING', 'CLAIMED', 'RUNNING', 'PARKED');
create index if not exists command_event_idx on noetl.command (event_id);
-- The purge of finished commands goes by their end.
create index if not exists command_completed_idx
  on noetl.command (completed_at) where completed_at is not null;

-- How many commands of a pool or of a playbook's path workers may hold at a time, and which pools are paused. In the cluster
-- database.
create table if not exists noetl.command_limit (
  scope text not null check (scope in ('pool', 'path')),
  name text not null,
  -- Null: as many as there are.
  commands_max integer check (commands_max > 0),
  paused_at timestamptz,
  reason text,
  updated_at timestamptz not null default now(),
  primary key (scope, name)
);

-- A command that waits for a playbook. The id of the child is fixed before it is started, so that starting it twice
-- starts it once. Lives beside the command of the parent.
create table if not exists noetl.child (
  parent_execution_id bigint not null,
  command_id bigint not null,
  child_execution_id bigint not null,
  -- PENDING: to be started. STARTED: to be waited for. DONE: the command was answered.
  state text not null default 'PENDING',
  attempts integer not null default 0,
  last_error text,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (parent_execution_id, command_id)
);
create index if not exists child_due_idx on noetl.child (due_at) where state <> 'DONE';
create index if not exists child_execution_idx on noetl.child (child_execution_id);
