-- name: dedup_claim(scope, dedup_key, execution_id, window_seconds)
-- Takes key `dedup_key` of `scope` for execution `execution_id`, for `window_seconds`. No row: somebody holds it and its
-- time is not over.
insert into noetl.subscription_dedup as held (subscription_id, dedup_key, execution_id, seen_at, expires_at)
values (:scope::bigint, :dedup_key::text, :execution_id::bigint, now(), now() + make_interval(secs => :window_seconds::double precision))
on conflict (subscription_id, dedup_key) do update
  set execution_id = excluded.execution_id, seen_at = excluded.seen_at, expires_at = excluded.expires_at
  where coalesce(held.expires_at, held.seen_at + make_interval(secs => :window_seconds::double precision)) < now()
returning execution_id;

-- name: dedup_holder(scope, dedup_key)
-- Which execution holds key `dedup_key` of `scope`.
select execution_id from noetl.subscription_dedup where subscription_id = :scope::bigint and dedup_key = :dedup_key::text;

-- name: dedup_purge(limit_rows)
-- Removes up to `limit_rows` records whose time is over.
delete from noetl.subscription_dedup
where (subscription_id, dedup_key) in (
  select subscription_id, dedup_key from noetl.subscription_dedup where expires_at < now() limit :limit_rows::int
);
