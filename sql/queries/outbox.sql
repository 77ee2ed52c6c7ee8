-- name: outbox_insert
-- One outbox row per event: execution ids $1, event ids $2, subjects $3, payload texts $4, trace contexts $5.
insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, trace)
select execution_id, event_id, subject, payload::jsonb, 'json', trace::jsonb
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[]) with ordinality
  as given (execution_id, event_id, subject, payload, trace, position)
order by position;
