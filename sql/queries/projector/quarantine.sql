-- name: quarantine_insert
-- Sets an envelope aside: event id $1, execution id $2, bytes $3, reason $4, source $5. The same one again only counts.
insert into noetl.projector_quarantine as q (event_id, execution_id, envelope, reason, source)
values ($1::bigint, $2::bigint, $3::bytea, $4::text, $5::text)
on conflict (coalesce(execution_id, -1), coalesce(event_id, -1), md5(envelope)) do update
  set attempts = q.attempts + 1, reason = excluded.reason, updated_at = now()
returning quarantine_id;

-- name: quarantine_list
-- Set-aside envelopes after id $1, at most $2.
select quarantine_id, event_id, execution_id, envelope, reason, source, attempts, created_at::text as created_at, updated_at::text as updated_at
from noetl.projector_quarantine
where quarantine_id > $1::bigint
order by quarantine_id
limit $2::int;

-- name: quarantine_get
-- One set-aside envelope.
select quarantine_id, event_id, execution_id, envelope, reason, source, attempts, created_at::text as created_at, updated_at::text as updated_at
from noetl.projector_quarantine
where quarantine_id = $1::bigint;

-- name: quarantine_delete
delete from noetl.projector_quarantine where quarantine_id = any($1::bigint[]);

-- name: quarantine_failed_again
-- Notes that envelope $1 failed again for reason $2.
update noetl.projector_quarantine set attempts = attempts + 1, reason = $2::text, updated_at = now() where quarantine_id = $1::bigint;
