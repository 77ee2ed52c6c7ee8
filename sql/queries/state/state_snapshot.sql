-- name: state_snapshot_load(state_snapshot_type, execution_id)
-- Execution `execution_id` and its snapshot of type `state_snapshot_type`, if there is one.
select x.tenant_id, x.organization_id, x.stream_version as head, x.status, x.engine,
  s.version, s.checksum, s.meta, s.snapshot_bytes, s.snapshot_codec, s.xmin::text as row_version
from noetl.execution x
left join noetl.projection_snapshot s
  on s.tenant_id = x.tenant_id and s.organization_id = x.organization_id
    and s.aggregate_type = :state_snapshot_type::text and s.aggregate_id = x.execution_id::text
where x.execution_id = :execution_id::bigint;

-- name: state_snapshot_save(
--   aggregate_type, aggregate_id, tenant_id, organization_id, version, snapshot, checksum, meta, snapshot_bytes,
--   snapshot_codec
-- )
-- Stores a snapshot: type `aggregate_type`, execution `aggregate_id`, tenant `tenant_id`, organisation
-- `organization_id`, `version`, summary `snapshot`, `checksum`, `meta`, bytes `snapshot_bytes`, codec `snapshot_codec`.
-- Never over a newer one, unless that one was folded by other rules.
insert into noetl.projection_snapshot as stored (
  aggregate_type, aggregate_id, tenant_id, organization_id, version, snapshot, checksum, meta, snapshot_bytes, snapshot_codec
)
values (:aggregate_type::text, :aggregate_id::text, :tenant_id::text, :organization_id::text, :version::bigint, :snapshot::text::jsonb, :checksum::text, :meta::text::jsonb, :snapshot_bytes::bytea, :snapshot_codec::text)
on conflict (tenant_id, organization_id, aggregate_type, aggregate_id) do update set
  version = excluded.version,
  snapshot = excluded.snapshot,
  checksum = excluded.checksum,
  meta = excluded.meta,
  snapshot_bytes = excluded.snapshot_bytes,
  snapshot_codec = excluded.snapshot_codec,
  updated_at = now()
where stored.version < excluded.version
  or stored.meta ->> 'fold_version' is distinct from excluded.meta ->> 'fold_version'
returning version;

-- name: state_snapshot_discard(aggregate_type, aggregate_id, tenant_id, organization_id, text)
-- Removes a snapshot that was found unusable, exactly as it was read (`text`): type `aggregate_type`, execution
-- `aggregate_id`, tenant `tenant_id`, organisation `organization_id`.
delete from noetl.projection_snapshot
where tenant_id = :tenant_id::text and organization_id = :organization_id::text and aggregate_type = :aggregate_type::text and aggregate_id = :aggregate_id::text
  and xmin::text = :text::text;

-- name: state_snapshot_delete(state_snapshot_type, execution_id)
-- Removes the snapshots of type `state_snapshot_type` of execution `execution_id`, whatever their tenant.
delete from noetl.projection_snapshot where aggregate_type = :state_snapshot_type::text and aggregate_id = :execution_id::text returning version;

-- name: state_snapshot_list(type, execution_id, after_type, after_id, limit_rows)
-- Snapshots of `type`, or of all types without one, of execution `execution_id`, or of all, after (`after_type` type,
-- `after_id` id), at most `limit_rows`.
-- plan: each time
select s.aggregate_type, s.aggregate_id, s.tenant_id, s.organization_id, s.version, s.checksum, s.meta, s.snapshot_codec,
  octet_length(s.snapshot_bytes) as stored_bytes, s.created_at::text as created_at, s.updated_at::text as updated_at,
  x.status as execution_status, x.stream_version as head,
  coalesce(x.start_event_type, '') in ('subscription.registered', 'subscription_registered') as is_subscription
from noetl.projection_snapshot s
left join noetl.execution x on x.execution_id = (substring(s.aggregate_id from '^(?:execution/)?([0-9]{1,18})(?:/|$)'))::bigint
where (:type::text is null or s.aggregate_type = :type::text)
  and (:execution_id::text is null or s.aggregate_id = :execution_id::text or s.aggregate_id like 'execution/' || :execution_id::text || '/%')
  and (s.aggregate_type, s.aggregate_id) > (:after_type::text, :after_id::text)
order by s.aggregate_type, s.aggregate_id
limit :limit_rows::int;

-- name: state_snapshot_prune(state_snapshot_type, limit_rows)
-- Removes up to `limit_rows` snapshots of type `state_snapshot_type` whose execution has ended or is not there.
with old as (
  select s.tenant_id, s.organization_id, s.aggregate_type, s.aggregate_id
  from noetl.projection_snapshot s
  left join noetl.execution x on x.execution_id = (substring(s.aggregate_id from '^([0-9]{1,18})$'))::bigint
  where s.aggregate_type = :state_snapshot_type::text and (x.execution_id is null or x.status in (:TERMINAL_STATUSES))
  limit :limit_rows::int
)
delete from noetl.projection_snapshot s using old
where s.tenant_id = old.tenant_id and s.organization_id = old.organization_id
  and s.aggregate_type = old.aggregate_type and s.aggregate_id = old.aggregate_id
returning s.aggregate_id;

-- name: state_snapshot_prunable(state_snapshot_type, counted_max, limit_rows)
-- What `state_snapshot_prune` would remove: the first `limit_rows`, each with how many there are, counted up to `counted_max`.
with old as (
  select s.aggregate_id, x.status, s.updated_at
  from noetl.projection_snapshot s
  left join noetl.execution x on x.execution_id = (substring(s.aggregate_id from '^([0-9]{1,18})$'))::bigint
  where s.aggregate_type = :state_snapshot_type::text and (x.execution_id is null or x.status in (:TERMINAL_STATUSES))
  limit :counted_max::int
)
select aggregate_id as execution_id, status as execution_status, updated_at::text as updated_at, (count(*) over ())::int as matched
from old order by aggregate_id limit :limit_rows::int;

-- name: state_snapshot_prunable_keys(counted_max)
-- How many `state_snapshot_prune_keys` would remove, counted up to `counted_max`.
select count(*)::int as count from (
  select from noetl.decision_key k
  left join noetl.execution x on x.execution_id = k.execution_id
  where x.execution_id is null or x.status in (:TERMINAL_STATUSES)
  limit :counted_max::int
) as old;

-- name: state_snapshot_prune_keys(limit_rows)
-- Removes up to `limit_rows` decision keys of executions that have ended or are not there.
with old as (
  select k.execution_id, k.key from noetl.decision_key k
  left join noetl.execution x on x.execution_id = k.execution_id
  where x.execution_id is null or x.status in (:TERMINAL_STATUSES)
  limit :limit_rows::int
)
delete from noetl.decision_key k using old where k.execution_id = old.execution_id and k.key = old.key
returning k.execution_id;
