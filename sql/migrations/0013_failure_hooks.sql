-- What playbooks want to happen when they fail (cluster database): `metadata.on_failure` of a version.
create table if not exists noetl.cp_on_failure (
  catalog_id bigint primary key,
  hook jsonb not null
);
-- Executions that failed and have such a hook, beside them: PENDING, DONE, GIVEN_UP, or NONE where it would go round in a circle.
create table if not exists noetl.failure_hook (
  execution_id bigint primary key references noetl.execution (execution_id) on delete cascade,
  state text not null default 'PENDING',
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  started_execution_id bigint,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index if not exists failure_hook_due_idx on noetl.failure_hook (due_at) where state = 'PENDING';
create index if not exists execution_failed_idx on noetl.execution (end_time) where status = 'FAILED';
