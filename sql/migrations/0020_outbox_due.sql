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
