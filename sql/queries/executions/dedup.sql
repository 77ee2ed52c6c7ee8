-- name: dedup_claim
-- Takes key $2 of scope $1 for execution $3, for $4 seconds. No row: somebody holds it and its time is not over.
insert into noetl.subscription_dedup as held (subscription_id, dedup_key, execution_id, seen_at, expires_at)
values ($1::bigint, $2::text, $3::bigint, now(), now() + make_interval(secs => $4::double precision))
on conflict (subscription_id, dedup_key) do update
  set execution_id = excluded.execution_id, seen_at = excluded.seen_at, expires_at = excluded.expires_at
  where coalesce(held.expires_at, held.seen_at + make_interval(secs => $4::double precision)) < now()
returning execution_id;

-- name: dedup_holder
-- Which execution holds key $2 of scope $1.
select execution_id from noetl.subscription_dedup where subscription_id = $1::bigint and dedup_key = $2::text;

-- name: dedup_purge
-- Removes up to $1 records whose time is over.
delete from noetl.subscription_dedup
where (subscription_id, dedup_key) in (
  select subscription_id, dedup_key from noetl.subscription_dedup where expires_at < now() limit $1::int
);
