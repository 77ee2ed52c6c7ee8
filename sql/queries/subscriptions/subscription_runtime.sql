-- name: subscription_runtime_beat
-- Runtime $1 is alive for $2 more seconds. Answers how many are, itself included, and how many subscriptions there are to drive.
with me as (
  insert into noetl.subscription_runtime (runtime_id, lease_until)
  values ($1::text, now() + make_interval(secs => $2::double precision))
  on conflict (runtime_id) do update set lease_until = excluded.lease_until
  returning runtime_id
)
select
  (select count(*) from noetl.subscription_runtime where lease_until > now() and runtime_id <> $1::text)::int + 1 as runtimes,
  (select count(*) from noetl.subscription where state = 'ACTIVE' and mode = 'pull' and live and not external)::int as active
from me;

-- name: subscription_runtime_leave
-- Runtime $1 is gone, and so are those that have not been heard of for an hour.
delete from noetl.subscription_runtime where runtime_id = $1::text or lease_until < now() - interval '1 hour';

-- name: subscription_renew
-- Extends what runtime $1 holds by $2 seconds and tells how it stands.
update noetl.subscription
set lease_until = now() + make_interval(secs => $2::double precision)
where owner = $1::text
returning subscription_id, path, catalog_id, state, live, external, epoch, last_event_id;

-- name: subscription_take
-- Takes up to $2 active pull subscriptions that nobody drives for runtime $1, for $3 seconds. The epoch shuts the one before out.
with free as (
  select subscription_id from noetl.subscription
  where state = 'ACTIVE' and mode = 'pull' and live and not external and (owner is null or lease_until < now())
  order by subscription_id
  limit $2::int
  for update skip locked
)
update noetl.subscription s
set owner = $1::text, lease_until = now() + make_interval(secs => $3::double precision), epoch = s.epoch + 1
from free
where s.subscription_id = free.subscription_id
returning s.subscription_id, s.path, s.catalog_id, s.state, s.live, s.external, s.epoch, s.last_event_id;

-- name: subscription_release
-- Runtime $1 has stopped driving the ids $2 and holds nothing of them. Tells those who wait for it.
with released as (
  update noetl.subscription set owner = null, lease_until = '-infinity'
  where owner = $1::text and subscription_id = any($2::bigint[])
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from released;
