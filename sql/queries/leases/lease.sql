-- name: member_beat
-- Member $1 is alive for $2 more seconds and tells $3 about itself. Answers its standing in everything it shares
-- (`shares` of $3): how many live members share it, and how many of those come before this one by id.
with me as (
  insert into noetl.member (id, kind, lease_until, info)
  values ($1::text, $4::text, now() + make_interval(secs => $2::double precision), $3::jsonb)
  on conflict (id) do update set lease_until = excluded.lease_until, info = excluded.info
  returning id, info
),
alive as (
  select id, info from me
  union all
  select id, info from noetl.member where lease_until > now() and id <> $1::text
)
select mine.share, count(*)::int as members, (count(*) filter (where alive.id < $1::text))::int as rank
from jsonb_array_elements_text($3::jsonb -> 'shares') as mine (share)
join alive on alive.info -> 'shares' ? mine.share
group by mine.share;

-- name: member_leave
-- Member $1 has stopped. Members that were silent for an hour go with it.
delete from noetl.member where id = $1::text or lease_until < now() - interval '1 hour';

-- name: member_list
select id, kind, (lease_until > now()) as alive, started_at::text as started_at, info from noetl.member order by started_at, id;

-- name: lease_prepare
-- Makes the slots 0 to $2 - 1 of kind $1, where they are missing.
insert into noetl.lease (kind, slot) select $1::text, generate_series(0, $2::int - 1) on conflict do nothing;

-- name: lease_renew
-- Extends the slots $3 (tokens $4, highest ids $5) of kind $1 that $2 holds by $6 seconds; answers those still held.
update noetl.lease l
set lease_until = now() + make_interval(secs => $6::double precision), renewed_at = now(),
  high_water = greatest(l.high_water, mine.high_water)
from unnest($3::int[], $4::bigint[], $5::bigint[]) as mine (slot, token, high_water)
where l.kind = $1::text and l.slot = mine.slot and l.token = mine.token and l.owner = $2::text and l.lease_until > now()
returning l.slot, l.token, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
  floor(extract(epoch from l.lease_until) * 1000)::bigint as ends_ms;

-- name: lease_take
-- Takes up to $4 of the slots $3 of kind $1 that nobody else holds for $2, for $5 seconds, in the order given. What $2
-- itself had held and lost sight of is free for it. `idle_seconds` tells how long a slot whose owner vanished has been
-- without one; null when it was given back in order. `ended_ms`: when the lease before ended.
with free as (
  select l.slot, l.owner, l.renewed_at, l.lease_until
  from unnest($3::int[]) with ordinality as given (slot, position)
  join noetl.lease l on l.kind = $1::text and l.slot = given.slot
  where l.owner is null or l.lease_until < now() or l.owner = $2::text
  order by given.position
  limit $4::int
  for update of l skip locked
)
update noetl.lease l
set owner = $2::text, token = l.token + 1, lease_until = now() + make_interval(secs => $5::double precision), renewed_at = now()
from free
where l.kind = $1::text and l.slot = free.slot
returning l.slot, l.token, l.high_water, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
  floor(extract(epoch from l.lease_until) * 1000)::bigint as ends_ms,
  case when isfinite(free.lease_until) then ceil(extract(epoch from least(free.lease_until, now())) * 1000)::bigint end as ended_ms,
  case when free.owner is not null then extract(epoch from now() - free.renewed_at)::float8 end as idle_seconds;

-- name: lease_release
-- Gives the slots $3 (tokens $4, highest ids $5) of kind $1 that $2 holds back.
update noetl.lease l
set owner = null, lease_until = now(), renewed_at = now(), high_water = greatest(l.high_water, mine.high_water)
from unnest($3::int[], $4::bigint[], $5::bigint[]) as mine (slot, token, high_water)
where l.kind = $1::text and l.slot = mine.slot and l.token = mine.token and l.owner = $2::text
returning l.slot;

-- name: lease_holder
-- Who holds slot $2 of kind $1, if anybody does.
select owner from noetl.lease where kind = $1::text and slot = $2::int and owner is not null and lease_until > now();

-- name: lease_fence
-- Which of the slots $3 (tokens $4) of kind $1 are held by $2. The lock keeps others from taking them until the end of
-- the transaction, and lets their holder renew them meanwhile.
select l.slot, l.token from noetl.lease l
where l.kind = $1::text and l.slot = any($3::int[]) and l.owner = $2::text and l.lease_until > now()
  and exists (
    select 1 from unnest($3::int[], $4::bigint[]) as mine (slot, token) where mine.slot = l.slot and mine.token = l.token
  )
order by l.slot
for key share of l;
