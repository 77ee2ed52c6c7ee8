-- name: quarantine_insert(event_id, execution_id, envelope, reason, source)
-- Sets an envelope aside: event id `event_id`, execution id `execution_id`, bytes `envelope`, `reason`, `source`. The
-- same one again only counts.
insert into noetl.projector_quarantine as q (event_id, execution_id, envelope, reason, source)
values (:event_id::bigint, :execution_id::bigint, :envelope::bytea, :reason::text, :source::text)
on conflict (coalesce(execution_id, -1), coalesce(event_id, -1), md5(envelope)) do update
  set attempts = q.attempts + 1, reason = excluded.reason, updated_at = now()
returning quarantine_id;

-- name: quarantine_list(after_id, limit_rows)
-- Set-aside envelopes after id `after_id`, at most `limit_rows`.
select quarantine_id, event_id, execution_id, envelope, reason, source, attempts, created_at::text as created_at, updated_at::text as updated_at
from noetl.projector_quarantine
where quarantine_id > :after_id::bigint
order by quarantine_id
limit :limit_rows::int;

-- name: quarantine_get(quarantine_id)
-- One set-aside envelope.
select quarantine_id, event_id, execution_id, envelope, reason, source, attempts, created_at::text as created_at, updated_at::text as updated_at
from noetl.projector_quarantine
where quarantine_id = :quarantine_id::bigint;

-- name: quarantine_delete(quarantine_ids)
delete from noetl.projector_quarantine where quarantine_id = any(:quarantine_ids::bigint[]);

-- name: quarantine_failed_again(quarantine_id, reason)
-- Notes that envelope `quarantine_id` failed again for `reason`.
update noetl.projector_quarantine set attempts = attempts + 1, reason = :reason::text, updated_at = now() where quarantine_id = :quarantine_id::bigint;
