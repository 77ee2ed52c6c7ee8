-- name: event_step_spans(execution_ids, samples, steps_max, completed_types, failed_types, skipped_types)
-- The first `steps_max` steps of the executions `execution_ids`: from when to when they were heard of, in milliseconds after
-- the first of these events, and how they ended last: 3 completed (types `completed_types`), 2 failed (types `failed_types`, or
-- an end whose status says so), 1 not at all. Types `skipped_types` tell of no step that was taken. Of a log with more than `samples` events so many are looked at, evenly spread, so that each execution costs the
-- same whatever its length. What others wrote has no version and is not looked at.
-- plan: by key
select x.execution_id, x.status, least(x.stream_version, :samples::int)::int as looked_at, x.stream_version::text as events,
  s.node_name, s.rank, s.first_at::text as first_at,
  round(extract(epoch from s.first_at - s.begins) * 1000)::int8 as from_ms,
  round(extract(epoch from s.last_at - s.begins) * 1000)::int8 as to_ms
from noetl.execution x
cross join lateral (
  select e.node_name, min(e.created_at) as first_at, max(e.created_at) as last_at,
    min(min(e.created_at)) over () as begins,
    coalesce((array_agg(case
      when e.event_type = any(:failed_types::text[]) or upper(e.status) in ('FAILED', 'ERROR') then 2
      else 3 end order by e.stream_version desc)
      filter (where e.event_type = any(:completed_types::text[] || :failed_types::text[])))[1], 1)::int as rank
  from noetl.event e
  where e.execution_id = x.execution_id
    and e.stream_version = any(array(
      select distinct 1 + n * (x.stream_version - 1) / greatest(least(x.stream_version, :samples::int) - 1, 1)
      from generate_series(0, least(x.stream_version, :samples::int) - 1) as n
    ))
    and e.event_type ~ '^(step|command|action)[._]' and e.event_type <> all(:skipped_types::text[]) and e.node_name is not null
  group by e.node_name
  order by 2, min(e.stream_version)
  limit :steps_max::int
) as s
where x.execution_id = any(:execution_ids::bigint[]);
