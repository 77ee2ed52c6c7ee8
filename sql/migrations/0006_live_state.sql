-- Live states: who drives which executions, which decisions were made, and the set of executions to look after.

-- A lane is the share of executions with the same hash modulo 64. Its owner alone decides for them. `share` is
-- the part of all executions that a group of daemons was given (`<index>/<count>`); each has lanes of its own.
create table if not exists noetl.state_lane (
  share text not null,
  lane smallint not null check (lane between 0 and 63),
  owner text,
  token bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  renewed_at timestamptz not null default now(),
  primary key (share, lane)
);

-- The daemons that share the lanes.
create table if not exists noetl.state_driver (
  driver_id text primary key,
  share text not null,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  lanes integer not null default 0
);

-- A decision is made once: its key is written in the transaction of its events. Kept while the execution runs.
create table if not exists noetl.decision_key (
  execution_id bigint not null,
  key text not null,
  -- The version of the state it was made on.
  version bigint not null,
  created_at timestamptz not null default now(),
  primary key (execution_id, key)
);

-- What has not ended, in id order: its size follows the running executions, never the history.
create index if not exists execution_active_idx on noetl.execution (execution_id)
  where status not in ('COMPLETED', 'FAILED', 'CANCELLED');

-- The state as it was written, beside the summary that stays readable in SQL.
alter table noetl.projection_snapshot
  add column if not exists snapshot_bytes bytea,
  add column if not exists snapshot_codec text;
