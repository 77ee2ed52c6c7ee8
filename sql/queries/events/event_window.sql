-- name: event_window(execution_id, offset_rows, limit_rows, newest_first)
-- The events of execution `execution_id` after the first `offset_rows` in id order, backwards if `newest_first`; at most
-- `limit_rows`. `total` counts all of them. What an event carries is told by its size alone.
-- plan: each time
select w.total, w.place, e.event_id, e.stream_version, e.event_type, e.node_id, e.node_name, e.node_type, e.status,
  e.worker_id, e.created_at::text as created_at, e.duration, left(e.error, 500) as error,
  coalesce(pg_column_size(e.context), 0)::int as context_bytes, coalesce(pg_column_size(e.result), 0)::int as result_bytes,
  coalesce(pg_column_size(e.meta), 0)::int as meta_bytes
from (
  select counted.total, found.event_id,
    case when :newest_first::boolean then counted.total - found.rank + 1 else found.rank end as place
  from (select count(*)::int as total from noetl.event where execution_id = :execution_id::bigint) as counted
  left join (
    select event_id, (:offset_rows::int + row_number() over (order by event_id))::int as rank from (
      select event_id from noetl.event where execution_id = :execution_id and not :newest_first
      order by event_id limit :limit_rows::int offset :offset_rows
    ) as oldest
    union all
    select event_id, (:offset_rows + row_number() over (order by event_id desc))::int from (
      select event_id from noetl.event where execution_id = :execution_id and :newest_first
      order by event_id desc limit :limit_rows offset :offset_rows
    ) as newest
  ) as found on true
) as w
left join noetl.event e on e.execution_id = :execution_id and e.event_id = w.event_id
order by case when :newest_first then -w.place else w.place end;

-- name: event_matches(
--   execution_id, offset_rows, limit_rows, newest_first, types, steps, statuses, pattern, wanted_id
-- )
-- The same among the events of execution `execution_id` that match: one of the `types`, `steps` and `statuses` (in small
-- letters), and `pattern` (LIKE) in their type, step, node, worker or error, or their id is `wanted_id`. After the first
-- `offset_rows` in id order, backwards if `newest_first`, at most `limit_rows`; `total` counts the matches, `place` is the
-- place among all events.
-- plan: each time
with found as materialized (
  select event_id, place from (
    select event_id, (row_number() over (order by event_id))::int as place,
      (:types::text[] is null or event_type = any(:types))
      and (:steps::text[] is null or node_name = any(:steps))
      and (:statuses::text[] is null or lower(status) = any(:statuses))
      and (:pattern::text is null or event_type ilike :pattern or node_name ilike :pattern or node_id ilike :pattern
        or worker_id ilike :pattern or error ilike :pattern or event_id = :wanted_id::bigint) as matches
    from noetl.event where execution_id = :execution_id::bigint
  ) as numbered
  where matches
)
select counted.total, w.place, e.event_id, e.stream_version, e.event_type, e.node_id, e.node_name, e.node_type, e.status,
  e.worker_id, e.created_at::text as created_at, e.duration, left(e.error, 500) as error,
  coalesce(pg_column_size(e.context), 0)::int as context_bytes, coalesce(pg_column_size(e.result), 0)::int as result_bytes,
  coalesce(pg_column_size(e.meta), 0)::int as meta_bytes
from (select count(*)::int as total from found) as counted
left join (
  select event_id, place from found
  order by case when :newest_first::boolean then -place else place end
  limit :limit_rows::int offset :offset_rows::int
) as w on true
left join noetl.event e on e.execution_id = :execution_id and e.event_id = w.event_id
order by case when :newest_first then -w.place else w.place end;
