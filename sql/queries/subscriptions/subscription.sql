-- name: subscription_get(subscription_id)
-- The subscription `subscription_id`.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription where subscription_id = :subscription_id::bigint;

-- name: subscription_by_path(path)
-- The newest id of `path`: the live one if there is one.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription where path = :path::text order by live desc, subscription_id desc limit 1;

-- name: subscription_unregistered(limit_rows)
-- Up to `limit_rows` newest entries of subscriptions that receive pushed messages and whose paths were never registered.
select distinct on (c.path) c.catalog_id, c.path
from noetl.catalog c
where lower(c.kind) = 'subscription' and c.archived_at is null and c.remove_after is null
  and c.content like '%gateway_path%'
  and not exists (select from noetl.subscription s where s.path = c.path)
order by c.path, c.version desc
limit :limit_rows::int;

-- name: subscription_by_listener(listener)
-- The live subscription behind `listener`.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription where listener = :listener::text and live;

-- name: subscription_newer(path, subscription_id)
-- An id of `path` that is newer than `subscription_id`.
select subscription_id from noetl.subscription where path = :path::text and subscription_id > :subscription_id::bigint
order by subscription_id desc limit 1;

-- name: subscription_insert(
--   subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, pending
-- )
-- A new id `subscription_id` for `path` of entry `catalog_id`, version `catalog_version`, `mode`, `source`, `external`,
-- `listener`, `spec`, with its first intent `pending`. No row: path or listener is taken.
insert into noetl.subscription (
  subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, pending, pending_since
)
values (:subscription_id::bigint, :path::text, :catalog_id::bigint, :catalog_version::int, :mode::text, :source::text, :external::boolean, :listener::text, :spec::jsonb, 'REGISTERED', :pending::jsonb, now())
on conflict do nothing
returning subscription_id;

-- name: subscription_intend(subscription_id, version, pending, listener)
-- Notes the decision `pending` for id `subscription_id`, made on `version`; it holds path and `listener` from here on.
-- No row: decide again.
update noetl.subscription
set pending = :pending::jsonb, pending_since = now(), live = live or state = 'DEACTIVATED', listener = :listener::text
where subscription_id = :subscription_id::bigint and version = :version::bigint and pending is null
returning subscription_id;

-- name: subscription_apply(
--   subscription_id, event_id, state, epochs, catalog_id, catalog_version, mode, source, spec, reason, actor, until,
--   last_event_id, last_event_type, updated_at, external
-- )
-- The intent with event `event_id` of id `subscription_id` is in the log: `state`, bump of the epoch `epochs`, entry
-- `catalog_id`, version `catalog_version`, `mode`, `source`, `spec`, `reason`, `actor`, `until`, last lifecycle event
-- `last_event_id` of type `last_event_type` at `updated_at`, `external`. Tells the runtimes.
with applied as (
  update noetl.subscription
  set state = :state::text, live = live and :state::text <> 'DEACTIVATED', version = version + 1, epoch = epoch + :epochs::bigint,
    catalog_id = :catalog_id::bigint, catalog_version = :catalog_version::int, mode = :mode::text, source = :source::text, external = :external::boolean, spec = :spec::jsonb,
    reason = :reason::text, actor = :actor::text, paused_until = :until::timestamptz,
    last_event_id = :last_event_id::bigint, last_event_type = :last_event_type::text, updated_at = :updated_at::timestamptz,
    pending = null, pending_since = null
  where subscription_id = :subscription_id::bigint and pending ->> 'event_id' = :event_id::text
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from applied;

-- name: subscription_abandon(subscription_id, event_id)
-- Forgets the intent with event `event_id` of id `subscription_id`, which was decided on a history that has moved on.
update noetl.subscription
set pending = null, pending_since = null, live = live and state <> 'DEACTIVATED', version = version + 1
where subscription_id = :subscription_id::bigint and pending ->> 'event_id' = :event_id::text;

-- name: subscription_adopt(
--   subscription_id, version, state, last_event_id, last_event_type, updated_at, reason, actor, paused_until
-- )
-- The log of id `subscription_id` says more than `version` knew: `state`, last event `last_event_id` of type
-- `last_event_type` at `updated_at`, `reason`, `actor`, until `paused_until`. An id that comes back from DEACTIVATED
-- holds its path again only if no other does.
with adopted as (
  update noetl.subscription s
  set state = :state::text, version = version + 1, epoch = epoch + 1,
    live = :state::text <> 'DEACTIVATED' and (live or state = 'DEACTIVATED' and not exists (
      select 1 from noetl.subscription other where other.path = s.path and other.live)),
    last_event_id = :last_event_id::bigint, last_event_type = :last_event_type::text, updated_at = :updated_at::timestamptz,
    reason = :reason::text, actor = :actor::text, paused_until = :paused_until::timestamptz
  where subscription_id = :subscription_id::bigint and version = :version::bigint and pending is null
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from adopted;

-- name: subscription_paths(subscription_ids, paths, catalog_ids)
-- The paths of the ids `subscription_ids`: as their rows have it, as their logs say (`paths`), as the catalog has their
-- entries (`catalog_ids`).
select given.subscription_id, coalesce(s.path, given.path, c.path, given.subscription_id::text) as path
from unnest(:subscription_ids::bigint[], :paths::text[], :catalog_ids::bigint[]) as given (subscription_id, path, catalog_id)
left join noetl.subscription s on s.subscription_id = given.subscription_id
left join noetl.catalog c on c.catalog_id = given.catalog_id;

-- name: subscription_missing(subscription_ids)
-- Those of the ids `subscription_ids` that have no row.
select given.subscription_id from unnest(:subscription_ids::bigint[]) as given (subscription_id)
where not exists (select 1 from noetl.subscription s where s.subscription_id = given.subscription_id);

-- name: subscription_path_hold(path)
-- All ids of `path`, which nobody changes before this transaction ends.
select subscription_id, state, live, pending is not null as is_changing from noetl.subscription
where path = :path::text order by subscription_id for update;

-- name: subscription_yield(subscription_ids)
-- The ids `subscription_ids` hold their path no longer.
update noetl.subscription set live = false, version = version + 1, epoch = epoch + 1
where subscription_id = any(:subscription_ids::bigint[]) and live
returning subscription_id;

-- name: subscription_rebuild(
--   subscription_id, path, catalog_id, state, last_event_id, last_event_type, updated_at, reason, actor,
--   paused_until, live
-- )
-- Writes id `subscription_id` as the log tells it: `path`, entry `catalog_id`, `state`, last event `last_event_id` of
-- type `last_event_type` at `updated_at`, `reason`, `actor`, until `paused_until`, `live`. Which version of the entry a
-- known id uses stays.
insert into noetl.subscription as s (
  subscription_id, path, catalog_id, state, live, version, epoch, last_event_id, last_event_type, updated_at, reason, actor, paused_until
)
values (:subscription_id::bigint, :path::text, :catalog_id::bigint, :state::text, :live::boolean, 1, 1, :last_event_id::bigint, :last_event_type::text, :updated_at::timestamptz, :reason::text, :actor::text, :paused_until::timestamptz)
on conflict (subscription_id) do update
set state = excluded.state, live = excluded.live, version = s.version + 1, epoch = s.epoch + 1,
  last_event_id = excluded.last_event_id, last_event_type = excluded.last_event_type,
  updated_at = excluded.updated_at, reason = excluded.reason, actor = excluded.actor, paused_until = excluded.paused_until
where s.pending is null
  and (s.state, s.live, s.last_event_id) is distinct from (excluded.state, excluded.live, excluded.last_event_id)
returning subscription_id;

-- name: subscription_describe(subscription_id, catalog_version, mode, source, listener, spec, external)
-- What the catalog entry of id `subscription_id` says, for a row that was made from the log alone: version
-- `catalog_version`, `mode`, `source`, `listener`, `spec`, `external`.
update noetl.subscription
set catalog_version = :catalog_version::int, mode = :mode::text, source = :source::text, listener = :listener::text, spec = :spec::jsonb, external = :external::boolean, trouble = null
where subscription_id = :subscription_id::bigint and mode is null;

-- name: subscription_trouble(subscription_id, trouble)
-- What keeps id `subscription_id` from working, in words `trouble`; null when nothing does.
update noetl.subscription set trouble = :trouble::text where subscription_id = :subscription_id::bigint and trouble is distinct from :trouble::text;

-- name: subscription_list(state, path_pattern, mode, cursor, limit_rows)
-- A page, newest id first: `state`, path pattern `path_pattern` (LIKE), `mode`, ids below `cursor`, at most
-- `limit_rows`.
-- plan: each time
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription
where (:state::text is null or state = :state)
  and (:path_pattern::text is null or path like :path_pattern)
  and (:mode::text is null or mode = :mode)
  and (:cursor::bigint is null or subscription_id < :cursor)
order by subscription_id desc
limit :limit_rows::int;

-- name: subscription_list_oldest(state, path_pattern, mode, cursor, limit_rows)
-- The same, oldest id first: ids above `cursor`.
-- plan: each time
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription
where (:state::text is null or state = :state)
  and (:path_pattern::text is null or path like :path_pattern)
  and (:mode::text is null or mode = :mode)
  and (:cursor::bigint is null or subscription_id > :cursor)
order by subscription_id
limit :limit_rows::int;

-- name: subscription_count
-- How many there are by state.
select state, count(*)::int as count from noetl.subscription group by state;

-- name: subscription_pulse
-- Another text whenever one of them has changed.
select concat_ws(' ', count(*), sum(version), max(updated_at), count(trouble), count(pending)) as pulse from noetl.subscription;

-- name: subscription_due(intent_seconds, limit_rows)
-- Ids that need a hand, at most `limit_rows`: intents older than `intent_seconds`, pauses whose time is over, drains
-- whose time is over or that nobody works on any more. Who works on an external one is not known here; it says so by
-- deactivating it.
(select subscription_id, 'intent' as need, version from noetl.subscription
 where pending is not null and pending_since < now() - make_interval(secs => :intent_seconds::double precision) limit :limit_rows::int)
union all
(select subscription_id, 'resume', version from noetl.subscription
 where state = 'PAUSED' and pending is null and paused_until <= now() limit :limit_rows::int)
union all
(select subscription_id, case when paused_until <= now() then 'expire' else 'deactivate' end, version from noetl.subscription
 where state = 'DRAINING' and pending is null
   and (paused_until <= now() or not external and mode is not null and (owner is null or lease_until < now())) limit :limit_rows::int)
union all
(select subscription_id, 'describe', version from noetl.subscription
 where mode is null and trouble is null and live limit :limit_rows::int);

-- name: subscription_live_page(after, limit_rows)
-- Live ids `after` without an open intent, at most `limit_rows`, with the newest event they know of.
select subscription_id, version, last_event_id from noetl.subscription
where live and pending is null and subscription_id > :after::bigint order by subscription_id limit :limit_rows::int;

-- name: subscription_live_pull(limit_rows)
-- Live subscriptions that our runtimes pull, newest first, at most `limit_rows`.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription where live and mode = 'pull' and not external order by subscription_id desc limit :limit_rows::int;

-- name: subscription_listeners(after, limit_rows)
-- Listeners of ours after id `after`, at most `limit_rows`: active ones, and those with a trouble that may be over.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription
where live and mode = 'push' and not external and (state = 'ACTIVE' or trouble is not null) and subscription_id > :after::bigint
order by subscription_id limit :limit_rows::int;

-- name: subscription_listeners_recent(limit_rows)
-- The `limit_rows` of these that changed last.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned,
  case when owner is not null then nullif(lease_until, '-infinity')::text end as lease_until, trouble
from noetl.subscription
where live and mode = 'push' and not external and (state = 'ACTIVE' or trouble is not null)
order by subscription.updated_at desc nulls last limit :limit_rows::int;

-- name: subscription_troubled(limit_rows)
-- Live subscriptions in trouble, newest first, at most `limit_rows`.
select subscription_id, path, trouble from noetl.subscription
where live and trouble is not null order by subscription_id desc limit :limit_rows::int;

-- name: subscription_suspicious(paused, draining, undriven, count)
-- Live subscriptions that an operator should look at, at most `count`: in trouble, paused without an end for more than
-- `paused` seconds, draining for more than `draining`, active and driven by nobody for more than `undriven`; and those
-- that another id of their path has superseded.
select subscription_id, path, actor, trouble, external, suspicion, seconds from (
  select subscription_id, path, actor, trouble, external, extract(epoch from now() - updated_at)::float8 as seconds,
    case
      when not live then 'superseded'
      when trouble is not null then 'trouble'
      when state = 'PAUSED' and paused_until is null and updated_at < now() - make_interval(secs => :paused::double precision) then 'paused'
      when state = 'DRAINING' and updated_at < now() - make_interval(secs => :draining::double precision) then 'draining'
      when state = 'ACTIVE' and mode = 'pull' and not external and updated_at < now() - make_interval(secs => :undriven::double precision)
        and greatest(lease_until, updated_at) < now() - make_interval(secs => :undriven::double precision) then 'undriven'
    end as suspicion
  from noetl.subscription where live or state <> 'DEACTIVATED'
) as judged
where suspicion is not null
order by subscription_id limit :count::int;

-- name: subscription_forgettable(subscription_ids, before)
-- Those of the ids `subscription_ids` that nobody needs any more: deactivated `before`, nothing under way, no given-up
-- message; and those that have no row at all.
select given.subscription_id
from unnest(:subscription_ids::bigint[]) as given (subscription_id)
left join noetl.subscription s on s.subscription_id = given.subscription_id
where (s.subscription_id is null or s.state = 'DEACTIVATED' and not s.live and s.pending is null and s.updated_at < :before::timestamptz)
  and not exists (select 1 from noetl.subscription_dead_letter d where d.subscription_id = given.subscription_id);

-- name: subscription_forget(subscription_ids, before)
-- Removes the rows of the ids `subscription_ids` under the same conditions.
delete from noetl.subscription s
where s.subscription_id = any(:subscription_ids::bigint[]) and s.state = 'DEACTIVATED' and not s.live and s.pending is null
  and s.updated_at < :before::timestamptz
  and not exists (select 1 from noetl.subscription_dead_letter d where d.subscription_id = s.subscription_id);
