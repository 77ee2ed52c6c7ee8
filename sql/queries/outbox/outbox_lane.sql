-- name: lane_renew
-- Extends the lanes $2 with tokens $3 of relay $1 by $4 seconds; answers those still held.
update noetl.outbox_lane l
set lease_until = now() + make_interval(secs => $4::double precision), renewed_at = now()
from unnest($2::smallint[], $3::bigint[]) as mine (lane, token)
where l.lane = mine.lane and l.token = mine.token and l.owner = $1::text and l.lease_until > now()
returning l.lane, l.token;

-- name: lane_take
-- Takes up to $2 lanes that nobody holds for relay $1, for $3 seconds. `idle_seconds` tells how long a lane whose
-- owner vanished has been without one (null when it was given back in order), `head` the newest row of all.
with free as (
  select lane, owner, renewed_at from noetl.outbox_lane
  where owner is null or lease_until < now()
  order by lane
  limit $2::int
  for update skip locked
)
update noetl.outbox_lane l
set owner = $1::text, token = l.token + 1, lease_until = now() + make_interval(secs => $3::double precision), renewed_at = now()
from free
where l.lane = free.lane
returning l.lane, l.token,
  case when free.owner is not null then extract(epoch from now() - free.renewed_at)::float8 end as idle_seconds,
  (select max(outbox_id) from noetl.outbox) as head;

-- name: lane_release
-- Gives the lanes $2 with tokens $3 of relay $1 back.
update noetl.outbox_lane l
set owner = null, lease_until = '-infinity', renewed_at = now()
from unnest($2::smallint[], $3::bigint[]) as mine (lane, token)
where l.lane = mine.lane and l.token = mine.token and l.owner = $1::text
returning l.lane;

-- name: relay_beat
-- Relay $1 is alive for $2 more seconds, with $3 lanes and $4 rows published so far; answers how many relays are.
with me as (
  insert into noetl.outbox_relay as r (relay_id, lease_until, lanes, published)
  values ($1::text, now() + make_interval(secs => $2::double precision), $3::int, $4::bigint)
  on conflict (relay_id) do update set lease_until = excluded.lease_until, lanes = excluded.lanes, published = excluded.published
  returning relay_id
)
select (select count(*) from noetl.outbox_relay where lease_until > now() and relay_id <> $1::text)::int + 1 as relays from me;

-- name: relay_leave
-- Relay $1 is gone, and so are those that have not been heard of for an hour.
delete from noetl.outbox_relay where relay_id = $1::text or lease_until < now() - interval '1 hour';

-- name: relay_list
select relay_id, lanes, published::text as published, started_at::text as started_at, (lease_until > now()) as alive
from noetl.outbox_relay order by started_at;
