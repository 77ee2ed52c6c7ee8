-- name: on_failure_put(catalog_id, hook)
-- What happens when version `catalog_id` fails.
insert into noetl.cp_on_failure (catalog_id, hook) values (:catalog_id::bigint, :hook::jsonb)
on conflict (catalog_id) do update set hook = excluded.hook;

-- name: on_failure_list(limit_rows)
-- Versions with a hook, newest first.
select catalog_id, hook::text as hook from noetl.cp_on_failure order by catalog_id desc limit :limit_rows::int;

-- name: failure_hook_note(catalog_ids, seconds, limit_rows)
-- A row for executions of versions `catalog_ids` (null: of any) that failed in the last `seconds`. Those that belong to
-- another one are told by it.
insert into noetl.failure_hook (execution_id)
select e.execution_id from noetl.execution e
where e.status = 'FAILED' and e.engine is not null and e.parent_execution_id is null
  and e.end_time >= now() - make_interval(secs => :seconds::float8)
  and (:catalog_ids::bigint[] is null or e.catalog_id = any(:catalog_ids::bigint[]))
  and not exists (select 1 from noetl.failure_hook h where h.execution_id = e.execution_id)
order by e.end_time
limit :limit_rows::int
on conflict (execution_id) do nothing
returning execution_id;

-- name: failure_hook_take(again_seconds, limit_rows)
-- Rows whose time has come; each is this daemon's until its next time, twice as far away with every attempt.
update noetl.failure_hook h
set attempts = h.attempts + 1, updated_at = now(),
  due_at = now() + make_interval(secs => least(3600, :again_seconds::float8 * 2 ^ h.attempts))
from noetl.execution e
where e.execution_id = h.execution_id and h.execution_id in (
  select d.execution_id from noetl.failure_hook d
  where d.state = 'PENDING' and d.due_at <= now()
  order by d.due_at limit :limit_rows::int for update skip locked)
returning h.execution_id, h.attempts, e.catalog_id, e.path, e.error, e.start_event_id, e.start_time::text as start_time,
  e.end_time::text as end_time, e.tenant_id, e.organization_id;

-- name: failure_hook_write(execution_id, state, started_execution_id, error)
update noetl.failure_hook
set state = :state::text, started_execution_id = :started_execution_id::bigint, error = :error::text, updated_at = now()
where execution_id = :execution_id::bigint;
