-- name: state_snapshot_load
-- Execution $2 and its snapshot of type $1, if there is one.
select x.tenant_id, x.organization_id, x.stream_version as head, x.status, x.engine,
  s.version, s.checksum, s.meta, s.snapshot_bytes, s.snapshot_codec, s.xmin::text as row_version
from noetl.execution x
left join noetl.projection_snapshot s
  on s.tenant_id = x.tenant_id and s.organization_id = x.organization_id
    and s.aggregate_type = $1::text and s.aggregate_id = x.execution_id::text
where x.execution_id = $2::bigint;

-- name: state_snapshot_save
-- Stores a snapshot: type $1, execution $2, tenant $3, organisation $4, version $5, summary $6, checksum $7, meta $8,
-- bytes $9, codec $10. Never over a newer one, unless that one was folded by other rules.
insert into noetl.projection_snapshot as stored (
  aggregate_type, aggregate_id, tenant_id, organization_id, version, snapshot, checksum, meta, snapshot_bytes, snapshot_codec
)
values ($1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text::jsonb, $7::text, $8::text::jsonb, $9::bytea, $10::text)
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

-- name: state_snapshot_discard
-- Removes a snapshot that was found unusable, exactly as it was read ($5): type $1, execution $2, tenant $3, organisation $4.
delete from noetl.projection_snapshot
where tenant_id = $3::text and organization_id = $4::text and aggregate_type = $1::text and aggregate_id = $2::text
  and xmin::text = $5::text;

-- name: state_snapshot_delete
-- Removes the snapshots of type $1 of execution $2, whatever their tenant.
delete from noetl.projection_snapshot where aggregate_type = $1::text and aggregate_id = $2::text returning version;

-- name: state_snapshot_list
-- Snapshots of type $1, or of all types without one, of execution $2, or of all, after ($3 type, $4 id), at most $5.
-- plan: each time
select s.aggregate_type, s.aggregate_id, s.tenant_id, s.organization_id, s.version, s.checksum, s.meta, s.snapshot_codec,
  octet_length(s.snapshot_bytes) as stored_bytes, s.created_at::text as created_at, s.updated_at::text as updated_at,
  x.status as execution_status, x.stream_version as head
from noetl.projection_snapshot s
left join noetl.execution x on x.execution_id = (substring(s.aggregate_id from '^(?:execution/)?([0-9]{1,18})(?:/|$)'))::bigint
where ($1::text is null or s.aggregate_type = $1::text)
  and ($2::text is null or s.aggregate_id = $2::text or s.aggregate_id like 'execution/' || $2::text || '/%')
  and (s.aggregate_type, s.aggregate_id) > ($3::text, $4::text)
order by s.aggregate_type, s.aggregate_id
limit $5::int;

-- name: state_snapshot_prune
-- Removes up to $2 snapshots of type $1 whose execution has ended or is not there.
with old as (
  select s.tenant_id, s.organization_id, s.aggregate_type, s.aggregate_id
  from noetl.projection_snapshot s
  left join noetl.execution x on x.execution_id = (substring(s.aggregate_id from '^([0-9]{1,18})$'))::bigint
  where s.aggregate_type = $1::text and (x.execution_id is null or x.status in ('COMPLETED', 'FAILED', 'CANCELLED'))
  limit $2::int
)
delete from noetl.projection_snapshot s using old
where s.tenant_id = old.tenant_id and s.organization_id = old.organization_id
  and s.aggregate_type = old.aggregate_type and s.aggregate_id = old.aggregate_id
returning s.aggregate_id;

-- name: state_snapshot_prune_keys
-- Removes up to $1 decision keys of executions that have ended or are not there.
with old as (
  select k.execution_id, k.key from noetl.decision_key k
  left join noetl.execution x on x.execution_id = k.execution_id
  where x.execution_id is null or x.status in ('COMPLETED', 'FAILED', 'CANCELLED')
  limit $1::int
)
delete from noetl.decision_key k using old where k.execution_id = old.execution_id and k.key = old.key
returning k.execution_id;
