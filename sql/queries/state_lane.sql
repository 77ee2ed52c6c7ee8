-- name: state_lane_prepare
-- Makes the lanes of share $1.
insert into noetl.state_lane (share, lane) select $1::text, generate_series(0, 63) on conflict do nothing;

-- name: state_lane_renew
-- Extends the lanes $3 with tokens $4 of driver $1 in share $2 by $5 seconds; answers those still held.
update noetl.state_lane l
set lease_until = now() + make_interval(secs => $5::double precision), renewed_at = now()
from unnest($3::smallint[], $4::bigint[]) as mine (lane, token)
where l.share = $2::text and l.lane = mine.lane and l.token = mine.token and l.owner = $1::text and l.lease_until > now()
returning l.lane, l.token;

-- name: state_lane_take
-- Takes up to $3 lanes of share $2 that nobody holds for driver $1, for $4 seconds. `idle_seconds` tells how long a
-- lane whose owner vanished has been without one; null when it was given back in order.
with free as (
  select lane, owner, renewed_at from noetl.state_lane
  where share = $2::text and (owner is null or lease_until < now())
  order by lane
  limit $3::int
  for update skip locked
)
update noetl.state_lane l
set owner = $1::text, token = l.token + 1, lease_until = now() + make_interval(secs => $4::double precision), renewed_at = now()
from free
where l.share = $2::text and l.lane = free.lane
returning l.lane, l.token,
  case when free.owner is not null then extract(epoch from now() - free.renewed_at)::float8 end as idle_seconds;

-- name: state_lane_release
-- Gives the lanes $3 with tokens $4 of driver $1 in share $2 back.
update noetl.state_lane l
set owner = null, lease_until = '-infinity', renewed_at = now()
from unnest($3::smallint[], $4::bigint[]) as mine (lane, token)
where l.share = $2::text and l.lane = mine.lane and l.token = mine.token and l.owner = $1::text
returning l.lane;

-- name: state_lane_fence
-- Which of the lanes $3 of share $2 driver $1 holds with the tokens $4. The lock keeps others from taking them until
-- the end of the transaction, and lets their holder renew them meanwhile.
select l.lane, l.token from noetl.state_lane l
where l.share = $2::text and l.lane = any($3::smallint[]) and l.owner = $1::text and l.lease_until > now()
  and exists (
    select 1 from unnest($3::smallint[], $4::bigint[]) as mine (lane, token) where mine.lane = l.lane and mine.token = l.token
  )
order by l.lane
for key share of l;

-- name: state_driver_beat
-- Driver $1 of share $2 is alive for $3 more seconds, with $4 lanes; answers how many drivers of the share are.
with me as (
  insert into noetl.state_driver as d (driver_id, share, lease_until, lanes)
  values ($1::text, $2::text, now() + make_interval(secs => $3::double precision), $4::int)
  on conflict (driver_id) do update set lease_until = excluded.lease_until, lanes = excluded.lanes
  returning driver_id
)
select (
  select count(*) from noetl.state_driver where lease_until > now() and share = $2::text and driver_id <> $1::text
)::int + 1 as drivers from me;

-- name: state_driver_leave
-- Driver $1 is gone, and so are those that have not been heard of for an hour.
delete from noetl.state_driver where driver_id = $1::text or lease_until < now() - interval '1 hour';

-- name: state_driver_list
select driver_id, share, lanes, started_at::text as started_at, (lease_until > now()) as alive
from noetl.state_driver order by started_at;
