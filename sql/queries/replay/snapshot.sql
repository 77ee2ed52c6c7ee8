-- name: snapshot_load(tenant_id, organization_id, aggregate_type, aggregate_id, version)
-- The snapshot of type `aggregate_type` and name `aggregate_id` of tenant `tenant_id` and organisation
-- `organization_id`, if its version is at most `version`.
select aggregate_id, aggregate_type, version, snapshot, checksum, meta, snapshot_bytes, snapshot_codec
from noetl.projection_snapshot
where tenant_id = :tenant_id::text and organization_id = :organization_id::text and aggregate_type = :aggregate_type::text and aggregate_id = :aggregate_id::text
  and (:version::bigint is null or version <= :version::bigint)
order by version desc
limit 1;

-- name: snapshot_save(
--   execution_id, tenant_id, organization_id, seed_aggregate_type, aggregate_id, version, snapshot, checksum, meta,
--   bytes, seed_codec
-- )
-- Stores a seed of execution `execution_id`, never over a newer one of the same fold. One that claims events which the
-- log does not have is no obstacle.
insert into noetl.projection_snapshot as stored (
  tenant_id, organization_id, aggregate_type, aggregate_id, version, snapshot, checksum, meta, snapshot_bytes, snapshot_codec
)
values (:tenant_id::text, :organization_id::text, :seed_aggregate_type::text, :aggregate_id::text, :version::bigint, :snapshot::text::jsonb, :checksum::text, :meta::text::jsonb, :bytes::bytea, :seed_codec::text)
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
  or stored.version > (select coalesce(max(event_id), 0) from noetl.event where execution_id = :execution_id::bigint)
returning version;

-- name: snapshot_due(after, page_size, events_min)
-- Of `page_size` executions `after` in id order: those with `events_min` events or more, and the events their seed has.
with page as (
  select execution_id, tenant_id, organization_id, event_count from noetl.execution
  where execution_id > :after::bigint order by execution_id limit :page_size::int
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
where page.event_count >= :events_min::bigint
union all
select null, null, null, null, null, (select max(execution_id) from page), (select count(*) from page)::int;
