-- One lease for everything that a process holds for a time.

-- The running processes that share work in this database. `info` tells what they share and how far they are.
create table if not exists noetl.member (
  id text primary key,
  kind text not null,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  info jsonb not null default '{}'
);

-- Numbered slots of some kind: lanes of the outbox (`outbox`), lanes of live states (`state <index>/<count>`),
-- machine ids (`machine`). The token grows with every change of hands.
create table if not exists noetl.lease (
  kind text not null,
  slot integer not null,
  owner text,
  token bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  -- When the last owner was last known to be alive; after a crash this tells how old unsettled publishes may be.
  renewed_at timestamptz not null default now(),
  primary key (kind, slot)
);

-- A lane is one of 64 shares of the executions; src/domain/leases/lane.ts computes the same number.
create or replace function noetl.lane_of(execution_id bigint) returns integer
  language sql immutable parallel safe
  return (hashint8extended(execution_id, 0) & 63)::integer;

drop table noetl.state_lane, noetl.state_driver;
