-- The outbox: leases on single rows for outside publishers, dead rows, the row as a relay reads it, and indexes whose
-- size follows the backlog, never the history.

alter table noetl.outbox
  add column if not exists trace jsonb,
  -- Who holds a row claimed over HTTP, until when, and the token that a late mark must show.
  add column if not exists lease_owner text,
  add column if not exists lease_token bigint,
  add column if not exists lease_until timestamptz,
  -- Where the stream put it; audit compares.
  add column if not exists stream_seq bigint,
  -- A row that was sent and got no answer may be in the stream. Whoever publishes it next must know since when: a stream
  -- recognises a message that comes twice only for a while.
  add column if not exists unanswered_since timestamptz;

-- A NULL execution would slip through the unique key.
delete from noetl.outbox later
using noetl.outbox earlier
where later.execution_id is null and earlier.execution_id is null
  and later.event_id = earlier.event_id and later.outbox_id > earlier.outbox_id;
create unique index if not exists outbox_event_without_execution_key
  on noetl.outbox (event_id) where execution_id is null;

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
-- Dead rows by execution: an execution that is held behind one is looked at every few seconds, and must not cost a
-- walk over its published rows or over everybody's dead ones.
create index if not exists outbox_dead_execution_idx
  on noetl.outbox (execution_id, outbox_id) where status = 'DEAD';
create index if not exists outbox_published_idx on noetl.outbox (published_at) where status = 'PUBLISHED';

-- The original's claim index cannot serve claims in order, and its second index repeats the unique key.
drop index if exists noetl.idx_outbox_status_available;
drop index if exists noetl.idx_outbox_execution_event;

-- Rows that a publisher claimed and never settled: nobody else would take them back.
update noetl.outbox set status = 'PENDING', locked_at = null, updated_at = now() where status = 'IN_FLIGHT';

-- Dead rows die young and often in a queue table: look after it more often than after others.
alter table noetl.outbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

create sequence if not exists noetl.outbox_lease_token;

-- Its lanes: the holder of one alone publishes the rows of its executions, in order.
insert into noetl.lease (kind, slot) select 'outbox', generate_series(0, 63) on conflict do nothing;

-- When a row may be tried: after its wait, or after the lease of whoever claimed it (15 seconds where none was written).
create or replace function noetl.due_at(o noetl.outbox) returns timestamptz
  language sql stable parallel safe
  return case o.status
    when 'IN_FLIGHT' then coalesce(o.lease_until, o.locked_at + interval '15 seconds', '-infinity')
    else o.available_at
  end;

-- What outside publishers may claim, by lane and time: rows that wait are behind the end of the range that is read.
create index if not exists outbox_due_idx
  on noetl.outbox (noetl.lane_of(coalesce(execution_id, event_id)), available_at, outbox_id)
  where status in ('PENDING', 'FAILED');
create index if not exists outbox_in_flight_idx
  on noetl.outbox (noetl.lane_of(coalesce(execution_id, event_id)), coalesce(lease_until, locked_at, '-infinity'), outbox_id)
  where status = 'IN_FLIGHT';

-- A row of the outbox as a relay reads it. The numbers come as one array, because a column costs the driver more than a
-- digit: id, execution, event, lane, attempts, ms to wait, ms since it was sent without an answer, and 1 if it
-- failed or was sent back before.
create or replace view noetl.relay_row as
select outbox_id, execution_id, status, noetl.lane_of(coalesce(execution_id, event_id)) as lane,
  array[
    outbox_id, execution_id, event_id, noetl.lane_of(coalesce(execution_id, event_id)), attempts,
    case
      when status = 'PENDING' and available_at <= now() then 0
      -- Read only under the policy to hold, in its place ahead of others.
      when status = 'DEAD' then 5000
      else least(9e15, greatest(0, ceil(1000 * (
        extract(epoch from case status when 'IN_FLIGHT' then coalesce(lease_until, locked_at + interval '15 seconds', now())
          else available_at end) - extract(epoch from now())
      ))))
    end::bigint,
    (extract(epoch from now() - unanswered_since) * 1000)::bigint,
    (last_error is not null)::int
  ] as numbers,
  subject, payload::text as payload, trace::text as trace,
  payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from noetl.outbox;
