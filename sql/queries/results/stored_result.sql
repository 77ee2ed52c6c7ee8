-- name: result_put(execution_id, result_id, name, scope, source_step, data, is_sealed, bytes, sha256, keep_seconds, quota_bytes)
-- Stores a result for so many seconds; null: as long as the execution. Nothing when the results of the execution have more
-- than `quota_bytes` then, or it does not exist.
insert into noetl.stored_result (execution_id, result_id, name, scope, source_step, data, is_sealed, bytes, sha256, expires_at)
select :execution_id::bigint, :result_id::bigint, :name::text, :scope::text, :source_step::text, :data::bytea,
  :is_sealed::boolean, :bytes::bigint, :sha256::text, now() + make_interval(secs => :keep_seconds::double precision)
from noetl.execution x
where x.execution_id = :execution_id::bigint
  and (select coalesce(sum(octet_length(r.data)), 0) from noetl.stored_result r where r.execution_id = :execution_id::bigint)
    + octet_length(:data::bytea) <= :quota_bytes::bigint
returning expires_at::text as expires_at;

-- name: result_get(execution_id, result_id)
-- A result whose time is not over.
select data, is_sealed, bytes, sha256
from noetl.stored_result
where execution_id = :execution_id::bigint and result_id = :result_id::bigint and (expires_at is null or expires_at > now());

-- name: result_adopted(execution_id, result_id)
-- A result in the table of the NoETL server.
select noetl.cp_adopted_result(:execution_id::bigint, :result_id::bigint) as data;

-- name: result_purge(limit_rows)
-- Deletes up to `limit_rows` results whose time is over.
delete from noetl.stored_result
where (execution_id, result_id) in (
  select execution_id, result_id from noetl.stored_result where expires_at < now() limit :limit_rows::int
);

-- name: result_bounded(execution_id, result_id, bytes_max)
-- A result whose time is not over; its data only if it has no more bytes than that.
select case when bytes <= :bytes_max::bigint then data end as data, is_sealed, bytes
from noetl.stored_result
where execution_id = :execution_id::bigint and result_id = :result_id::bigint and (expires_at is null or expires_at > now());

-- name: result_adopted_bounded(execution_id, result_id, bytes_max)
-- The same in the table of the NoETL server.
with found as materialized (
  select noetl.cp_adopted_result(:execution_id::bigint, :result_id::bigint) as data
)
select case when octet_length(data) <= :bytes_max::bigint then data end as data, octet_length(data)::bigint as bytes
from found
where data is not null;

-- name: result_place(ref)
-- Where the NoETL server keeps a result that is not in the database.
select store_tier, physical_uri from noetl.cp_result_place(:ref::text) where store_tier is not null;

-- name: result_page(after_execution, after_result, limit_rows)
-- Results whose time is not over, in the order of their ids.
select execution_id, result_id, name, scope, source_step, data, is_sealed, bytes, sha256, created_at::text as created_at,
  expires_at::text as expires_at
from noetl.stored_result
where (execution_id, result_id) > (:after_execution::bigint, :after_result::bigint) and (expires_at is null or expires_at > now())
order by execution_id, result_id
limit :limit_rows::int;

-- name: result_hand_over(execution_id, result_id, name, scope, source_step, data, bytes, sha256, created_at, expires_at)
-- Puts a result, as JSON text, into the table of the NoETL server.
select noetl.cp_hand_over_result(:execution_id::bigint, :result_id::bigint, :name::text, :scope::text, :source_step::text,
  :data::text, :bytes::bigint, :sha256::text, :created_at::timestamptz, :expires_at::timestamptz);
