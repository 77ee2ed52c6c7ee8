-- name: machine_lease_take
-- Takes the first free machine id of $1 (in the order given) for holder $2, for $3 seconds, with the database's time.
-- The holder before may have minted until its lease ended and may have died before it could tell: what comes now lies
-- above that moment (milliseconds since 2024 shifted by 22, with everything below set).
-- No row: none was free. A row of nulls: one was, and somebody else was faster.
with candidate as (
  select given.machine_id
  from unnest($1::smallint[]) with ordinality as given (machine_id, position)
  left join noetl.machine_lease l on l.machine_id = given.machine_id
  where l.machine_id is null or l.expires_at < now()
  order by given.position
  limit 1
),
taken as (
  insert into noetl.machine_lease as held (machine_id, holder, expires_at)
  select machine_id, $2::text, now() + make_interval(secs => $3::double precision) from candidate
  on conflict (machine_id) do update
    set holder = excluded.holder, token = held.token + 1, expires_at = excluded.expires_at, updated_at = now(),
      high_water = greatest(
        held.high_water,
        (greatest(0, ceil(extract(epoch from held.expires_at) * 1000)::bigint - 1704067200000) << 22) | 4194303
      )
    where held.expires_at < now()
  returning machine_id, token, high_water, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
    floor(extract(epoch from expires_at) * 1000)::bigint as ends_ms
)
select taken.machine_id, taken.token, taken.high_water, taken.now_ms, taken.ends_ms from candidate left join taken on true;

-- name: machine_lease_renew
-- Extends lease $1 of holder $2 with token $3 by $4 seconds and notes the highest id $5. No row: it is lost.
update noetl.machine_lease
set expires_at = now() + make_interval(secs => $4::double precision), high_water = greatest(high_water, $5::bigint), updated_at = now()
where machine_id = $1::smallint and holder = $2::text and token = $3::bigint
returning (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
  floor(extract(epoch from expires_at) * 1000)::bigint as ends_ms;

-- name: machine_lease_release
-- Gives lease $1 of holder $2 with token $3 back, with the highest id $4.
update noetl.machine_lease
set expires_at = now() - interval '1 second', high_water = greatest(high_water, $4::bigint), updated_at = now()
where machine_id = $1::smallint and holder = $2::text and token = $3::bigint;

-- name: machine_lease_holder
-- Who holds machine id $1, if anybody.
select holder, expires_at::text as expires_at from noetl.machine_lease where machine_id = $1::smallint and expires_at >= now();
