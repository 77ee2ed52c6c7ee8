-- name: member_beat(id, lease_seconds, info, kind)
-- Member `id` is alive for `lease_seconds` more seconds and tells `info` about itself. Answers its standing in
-- everything it shares (`shares` of `info`): how many live members share it, and how many of those come before this one
-- by id.
with me as (
  insert into noetl.member (id, kind, lease_until, info)
  values (:id::text, :kind::text, now() + make_interval(secs => :lease_seconds::double precision), :info::jsonb)
  on conflict (id) do update set lease_until = excluded.lease_until, info = excluded.info
  returning id, info
),
alive as (
  select id, info from me
  union all
  select id, info from noetl.member where lease_until > now() and id <> :id::text
)
select mine.share, count(*)::int as members, (count(*) filter (where alive.id < :id::text))::int as rank
from jsonb_array_elements_text(:info::jsonb -> 'shares') as mine (share)
join alive on alive.info -> 'shares' ? mine.share
group by mine.share;

-- name: member_leave(id)
-- Member `id` has stopped. Members that were silent for an hour go with it.
delete from noetl.member where id = :id::text or lease_until < now() - interval '1 hour';

-- name: lease_prepare(kind, slots)
-- Makes the slots 0 to `slots` - 1 of `kind`, where they are missing.
insert into noetl.lease (kind, slot) select :kind::text, generate_series(0, :slots::int - 1) on conflict do nothing;

-- name: lease_renew(kind, owner, slots, tokens, high_waters, lease_seconds)
-- Extends the `slots` (`tokens`, highest ids `high_waters`) of `kind` that `owner` holds by `lease_seconds`; answers
-- those still held.
update noetl.lease l
set lease_until = now() + make_interval(secs => :lease_seconds::double precision), renewed_at = now(),
  high_water = greatest(l.high_water, mine.high_water)
from unnest(:slots::int[], :tokens::bigint[], :high_waters::bigint[]) as mine (slot, token, high_water)
where l.kind = :kind::text and l.slot = mine.slot and l.token = mine.token and l.owner = :owner::text and l.lease_until > now()
returning l.slot, l.token, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
  floor(extract(epoch from l.lease_until) * 1000)::bigint as ends_ms;

-- name: lease_take(kind, owner, slots, limit_rows, lease_seconds)
-- Takes up to `limit_rows` of the `slots` of `kind` that nobody else holds for `owner`, for `lease_seconds`, in the
-- order given. What `owner` itself had held and lost sight of is free for it. `idle_seconds` tells how long a slot whose
-- owner vanished has been without one; null when it was given back in order. `ended_ms`: when the lease before ended.
-- `orphaned_until_seconds`: how long ago the last owner that vanished can have worked, unless lease_unorphan was told since
-- that nothing of theirs is left.
with free as (
  select l.slot, l.owner, l.renewed_at, l.lease_until
  from unnest(:slots::int[]) with ordinality as given (slot, position)
  join noetl.lease l on l.kind = :kind::text and l.slot = given.slot
  where l.owner is null or l.lease_until < now() or l.owner = :owner::text
  order by given.position
  limit :limit_rows::int
  for update of l skip locked
)
update noetl.lease l
set owner = :owner::text, token = l.token + 1, lease_until = now() + make_interval(secs => :lease_seconds::double precision), renewed_at = now(),
  orphaned_until = case when free.owner is null then l.orphaned_until else least(free.lease_until, now()) end
from free
where l.kind = :kind::text and l.slot = free.slot
returning l.slot, l.token, l.high_water, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
  floor(extract(epoch from l.lease_until) * 1000)::bigint as ends_ms,
  case when isfinite(free.lease_until) then ceil(extract(epoch from least(free.lease_until, now())) * 1000)::bigint end as ended_ms,
  case when free.owner is not null then extract(epoch from now() - free.renewed_at)::float8 end as idle_seconds,
  extract(epoch from now() - l.orphaned_until)::float8 as orphaned_until_seconds;

-- name: lease_unorphan(kind, owner, slots, tokens)
-- Nothing is left that owners who vanished had worked on in the `slots` (`tokens`) of `kind` that `owner` holds.
update noetl.lease l set orphaned_until = null
from unnest(:slots::int[], :tokens::bigint[]) as mine (slot, token)
where l.kind = :kind::text and l.slot = mine.slot and l.token = mine.token and l.owner = :owner::text;

-- name: lease_release(kind, owner, slots, tokens, high_waters)
-- Gives the `slots` (`tokens`, highest ids `high_waters`) of `kind` that `owner` holds back.
update noetl.lease l
set owner = null, lease_until = now(), renewed_at = now(), high_water = greatest(l.high_water, mine.high_water)
from unnest(:slots::int[], :tokens::bigint[], :high_waters::bigint[]) as mine (slot, token, high_water)
where l.kind = :kind::text and l.slot = mine.slot and l.token = mine.token and l.owner = :owner::text
returning l.slot;

-- name: lease_holder(kind, slot)
-- Who holds `slot` of `kind`, if anybody does.
select owner from noetl.lease where kind = :kind::text and slot = :slot::int and owner is not null and lease_until > now();

-- name: lease_owners(kind_like)
-- Who holds which slots of the kinds like `kind_like`, each slot with the seconds that are left of its lease.
select kind, owner, count(*)::int as lanes, bool_and(lease_until > now()) as live, string_agg(slot::text, ',' order by slot) as slots,
  string_agg(greatest(0, ceil(extract(epoch from lease_until - now())))::int::text, ',' order by slot) as lease_seconds
from noetl.lease where kind like :kind_like::text and owner is not null group by kind, owner order by kind, owner;

-- name: lease_fence(kind, owner, slots, tokens)
-- Which of the `slots` (`tokens`) of `kind` are held by `owner`. The lock keeps others from taking them until the end of
-- the transaction, and lets their holder renew them meanwhile.
select l.slot, l.token from noetl.lease l
where l.kind = :kind::text and l.slot = any(:slots::int[]) and l.owner = :owner::text and l.lease_until > now()
  and exists (
    select 1 from unnest(:slots::int[], :tokens::bigint[]) as mine (slot, token) where mine.slot = l.slot and mine.token = l.token
  )
order by l.slot
for key share of l;

-- name: member_live()
-- The processes that are at work in this database.
select distinct id from noetl.member where lease_until > now() order by id;
