-- name: schedule_put(path, cron, timezone, missed, overlap, next_ms)
-- The schedule of `path`. One that is the same stays as it is; a new or changed one begins now, its first moment at `next_ms`
-- (milliseconds of the epoch).
insert into noetl.cp_schedule (path, cron, timezone, missed, overlap, next_tick)
values (:path::text, :cron::text, :timezone::text, :missed::text, :overlap::text, to_timestamp(:next_ms::double precision / 1000.0))
on conflict (path) do update
set cron = excluded.cron, timezone = excluded.timezone, missed = excluded.missed, overlap = excluded.overlap,
  last_tick = now(), next_tick = excluded.next_tick, updated_at = now()
where (cp_schedule.cron, cp_schedule.timezone) is distinct from (excluded.cron, excluded.timezone)
  or (cp_schedule.missed, cp_schedule.overlap) is distinct from (excluded.missed, excluded.overlap);

-- name: schedule_remove(path)
delete from noetl.cp_schedule where path = :path::text;

-- part: SCHEDULE
path, cron, timezone, missed, overlap, (extract(epoch from last_tick) * 1000)::float8 as last_ms,
  (extract(epoch from next_tick) * 1000)::float8 as next_ms, last_execution_id::text as last_execution_id, last_error,
  paused_at::text as paused_at, (extract(epoch from now()) * 1000)::float8 as now_ms;

-- name: schedule_list(path, limit_rows)
-- Schedules by path: one, or all, at most `limit_rows`.
-- plan: each time
select :SCHEDULE
from noetl.cp_schedule
where :path::text is null or path = :path::text
order by path
limit :limit_rows::int;

-- name: schedule_due(limit_rows)
-- Schedules whose moment has come, at most `limit_rows`; the moment that came first is the first.
select :SCHEDULE
from noetl.cp_schedule
where paused_at is null and next_tick <= now()
order by next_tick, path
limit :limit_rows::int;

-- name: schedule_advance(path, old_ms, last_ms, next_ms, execution_id, error)
-- Everything up to `last_ms` is done, if nobody else has said so since `old_ms`.
update noetl.cp_schedule
set last_tick = to_timestamp(:last_ms::double precision / 1000.0), next_tick = to_timestamp(:next_ms::double precision / 1000.0),
  last_execution_id = coalesce(:execution_id::bigint, last_execution_id), last_error = :error::text, updated_at = now()
where path = :path::text and (extract(epoch from last_tick) * 1000)::float8 = :old_ms::float8;

-- name: schedule_pause(path)
update noetl.cp_schedule set paused_at = coalesce(paused_at, now()), updated_at = now() where path = :path::text returning path;

-- name: schedule_resume(path, next_ms)
-- What fell into the pause is not made up for.
update noetl.cp_schedule
set paused_at = null, last_tick = case when paused_at is null then last_tick else now() end,
  next_tick = case when paused_at is null then next_tick else to_timestamp(:next_ms::double precision / 1000.0) end, updated_at = now()
where path = :path::text
returning path;

-- name: schedule_now
select (extract(epoch from now()) * 1000)::float8 as now_ms;
