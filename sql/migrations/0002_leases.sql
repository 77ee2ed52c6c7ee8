-- One lease for everything that a process holds for a time, in the database that it is about.

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
  -- How long the last owner that vanished can have worked, as long as it is not known that nothing of such owners is left;
  -- giving the slot back does not end that.
  orphaned_until timestamptz,
  -- Of machine ids: the highest id minted under the lease; the next holder starts above it.
  high_water bigint not null default 0,
  primary key (kind, slot)
);

-- Two live processes never mint ids with the same machine id (cluster database).
insert into noetl.lease (kind, slot) select 'machine', generate_series(0, 1023) on conflict do nothing;

-- A lane is one of 64 shares of the executions; src/domain/leases/lane.ts computes the same number.
create or replace function noetl.lane_of(execution_id bigint) returns integer
  language sql immutable parallel safe
  return (hashint8extended(execution_id, 0) & 63)::integer;

-- Which of the slots that `owner` believes to hold, with these tokens, it does hold: one bit each, for slots below 64.
create or replace function noetl.held_slots(wanted_kind text, wanted_owner text, slots int[], tokens bigint[]) returns bigint
  language sql stable parallel safe
  return (
    select bit_or(1::bigint << l.slot)
    from noetl.lease l join unnest(slots, tokens) as mine (slot, token) on l.slot = mine.slot and l.token = mine.token
    where l.kind = wanted_kind and l.owner = wanted_owner and l.lease_until > now()
  );
