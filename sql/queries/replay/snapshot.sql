-- name: snapshot_load
-- The snapshot of type $3 and name $4 of tenant $1 and organisation $2, if its version is at most $5.
select aggregate_id, aggregate_type, version, snapshot, checksum, meta, snapshot_bytes, snapshot_codec
from noetl.projection_snapshot
where tenant_id = $1::text and organization_id = $2::text and aggregate_type = $3::text and aggregate_id = $4::text
  and ($5::bigint is null or version <= $5::bigint)
order by version desc
limit 1;

-- name: snapshot_save
-- Stores a seed of execution $1, never over a newer one of the same fold. One that claims events which the log
-- does not have is no obstacle.
insert into noetl.projection_snapshot as stored (
  tenant_id, organization_id, aggregate_type, aggregate_id, version, snapshot, checksum, meta, snapshot_bytes, snapshot_codec
)
values ($2::text, $3::text, $4::text, $5::text, $6::bigint, $7::text::jsonb, $8::text, $9::text::jsonb, $10::bytea, $11::text)
on conflict (tenant_id, organization_id, aggregate_type, aggregate_id) do update set
  version = excluded.version,
  snapshot = excluded.snapshot,
  checksum = excluded.checksum,
  meta = excluded.meta,
  snapshot_bytes = excluded.snapshot_bytes,
  snapshot_codec = excluded.snapshot_codec,
  updated_at = now()
where stored.version <= excluded.version
  or stored.meta ->> 'fold_profile' is distinct from excluded.meta ->> 'fold_profile'
  or stored.version > (select coalesce(max(event_id), 0) from noetl.event where execution_id = $1::bigint)
returning version;

-- name: snapshot_due
-- Of $2 executions after $1 in id order: those with $3 events or more, and the events their seed has.
with page as (
  select execution_id, tenant_id, organization_id, event_count from noetl.execution
  where execution_id > $1::bigint order by execution_id limit $2::int
)
select page.execution_id, page.tenant_id, page.organization_id, page.event_count,
  coalesce(
    (select case when jsonb_typeof(s.meta -> 'event_count') = 'number' then (s.meta ->> 'event_count')::numeric end
     from noetl.projection_snapshot s
     where s.tenant_id = page.tenant_id and s.organization_id = page.organization_id
       and s.aggregate_type = 'cp_replay_state' and s.aggregate_id = 'execution/' || page.execution_id || '/all'),
    0
  )::text as seeded,
  (select max(execution_id) from page) as last_id, (select count(*) from page)::int as page_size
from page
where page.event_count >= $3::bigint
union all
select null, null, null, null, null, (select max(execution_id) from page), (select count(*) from page)::int;
