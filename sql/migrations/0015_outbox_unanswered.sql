-- A row that was sent and got no answer may be in the stream. Whoever publishes it next must know since when: a stream
-- recognises a message that comes twice only for a while.
alter table noetl.outbox add column if not exists unanswered_since timestamptz;

-- A row of the outbox as a relay reads it. The numbers come as one array, because a column costs the driver more than a
-- digit: id, execution, event, lane, attempts, ms to wait, ms since it was sent without an answer.
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
    (extract(epoch from now() - unanswered_since) * 1000)::bigint
  ] as numbers,
  subject, payload::text as payload, trace::text as trace,
  payload ->> 'event_type' as event_type, payload ->> 'stream_version' as stream_version
from noetl.outbox;
