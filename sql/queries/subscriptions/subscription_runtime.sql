-- name: subscription_count_drivable
-- How many subscriptions there are for daemons to drive.
select count(*)::int as count from noetl.subscription where state = 'ACTIVE' and mode = 'pull' and live and not external;

-- name: subscription_renew(owner, lease_seconds)
-- Extends what member `owner` holds by `lease_seconds` and tells how it stands.
update noetl.subscription
set lease_until = now() + make_interval(secs => :lease_seconds::double precision)
where owner = :owner::text
returning subscription_id, path, catalog_id, state, live, external, epoch, last_event_id;

-- name: subscription_take(owner, limit_rows, lease_seconds)
-- Takes up to `limit_rows` active pull subscriptions that nobody drives for member `owner`, for `lease_seconds`. The
-- epoch shuts the one before out.
with free as (
  select subscription_id from noetl.subscription
  where state = 'ACTIVE' and mode = 'pull' and live and not external and (owner is null or lease_until < now())
  order by subscription_id
  limit :limit_rows::int
  for update skip locked
)
update noetl.subscription s
set owner = :owner::text, lease_until = now() + make_interval(secs => :lease_seconds::double precision), epoch = s.epoch + 1
from free
where s.subscription_id = free.subscription_id
returning s.subscription_id, s.path, s.catalog_id, s.state, s.live, s.external, s.epoch, s.last_event_id;

-- name: subscription_release(owner, subscription_ids)
-- Member `owner` has stopped driving the ids `subscription_ids` and holds nothing of them. Tells those who wait for it.
with released as (
  update noetl.subscription set owner = null, lease_until = '-infinity'
  where owner = :owner::text and subscription_id = any(:subscription_ids::bigint[])
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from released;
