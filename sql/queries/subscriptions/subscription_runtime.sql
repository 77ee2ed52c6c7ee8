-- name: subscription_count_drivable
-- How many subscriptions there are for daemons to drive.
select count(*)::int as count from noetl.subscription where state = 'ACTIVE' and mode = 'pull' and live and not external;

-- name: subscription_renew
-- Extends what member $1 holds by $2 seconds and tells how it stands.
update noetl.subscription
set lease_until = now() + make_interval(secs => $2::double precision)
where owner = $1::text
returning subscription_id, path, catalog_id, state, live, external, epoch, last_event_id;

-- name: subscription_take
-- Takes up to $2 active pull subscriptions that nobody drives for member $1, for $3 seconds. The epoch shuts the one before out.
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
-- Member $1 has stopped driving the ids $2 and holds nothing of them. Tells those who wait for it.
with released as (
  update noetl.subscription set owner = null, lease_until = '-infinity'
  where owner = $1::text and subscription_id = any($2::bigint[])
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from released;
