-- Playbooks that start by themselves (cluster database). `last_tick`: up to which moment everything was started or let go.
create table if not exists noetl.cp_schedule (
  path text primary key,
  cron text not null,
  timezone text not null,
  missed text not null,
  overlap text not null,
  last_tick timestamptz not null default now(),
  next_tick timestamptz,
  last_execution_id bigint,
  last_error text,
  paused_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index if not exists cp_schedule_due_idx on noetl.cp_schedule (next_tick) where paused_at is null;
