-- The relay: lanes that one relay owns for a while, leases on single rows for outside publishers, dead rows,
-- and indexes whose size follows the backlog, never the history.

alter table noetl.outbox
  -- Who holds a row claimed over HTTP, until when, and the token that a late mark must show.
  add column if not exists lease_owner text,
  add column if not exists lease_token bigint,
  add column if not exists lease_until timestamptz,
  -- Where the stream put it; audit compares.
  add column if not exists stream_seq bigint;

do $$
declare
  found record;
begin
  -- The original allows four states; a row that can never succeed needs a fifth.
  for found in
    select conname from pg_constraint
    where conrelid = 'noetl.outbox'::regclass and contype = 'c' and pg_get_constraintdef(oid) like '%status%'
  loop
    execute format('alter table noetl.outbox drop constraint %I', found.conname);
  end loop;
end $$;
alter table noetl.outbox add constraint outbox_status_check
  check (status in ('PENDING', 'IN_FLIGHT', 'PUBLISHED', 'FAILED', 'DEAD')) not valid;

-- What is not settled, in order; and the same per execution. Published rows are in neither.
create index if not exists outbox_unsettled_idx
  on noetl.outbox (outbox_id) where status in ('PENDING', 'FAILED', 'IN_FLIGHT');
create index if not exists outbox_unsettled_execution_idx
  on noetl.outbox (execution_id, outbox_id) where status in ('PENDING', 'FAILED', 'IN_FLIGHT');
create index if not exists outbox_dead_idx on noetl.outbox (outbox_id) where status = 'DEAD';
create index if not exists outbox_published_idx on noetl.outbox (published_at) where status = 'PUBLISHED';

-- The original's claim index cannot serve claims in order, and its second index repeats the unique key.
drop index if exists noetl.idx_outbox_status_available;
drop index if exists noetl.idx_outbox_execution_event;

-- Rows that a publisher claimed and never settled: nobody else would take them back.
update noetl.outbox set status = 'PENDING', locked_at = null, updated_at = now() where status = 'IN_FLIGHT';

-- Dead rows die young and often in a queue table: look after it more often than after others.
alter table noetl.outbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

create sequence if not exists noetl.outbox_lease_token;

-- A lane is the share of executions with the same hash modulo 64. Its owner alone publishes them, in order.
create table if not exists noetl.outbox_lane (
  lane smallint primary key check (lane between 0 and 63),
  owner text,
  token bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  -- When the last owner was last known to be alive; after a crash this tells how old unsettled publishes may be.
  renewed_at timestamptz not null default now()
);
insert into noetl.outbox_lane (lane) select generate_series(0, 63) on conflict do nothing;

-- The relays that share the lanes.
create table if not exists noetl.outbox_relay (
  relay_id text primary key,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  lanes integer not null default 0,
  published bigint not null default 0
);
