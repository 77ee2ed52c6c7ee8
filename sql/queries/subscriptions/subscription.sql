-- name: subscription_get
-- The subscription $1.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription where subscription_id = $1::bigint;

-- name: subscription_by_path
-- The newest id of path $1: the live one if there is one.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription where path = $1::text order by live desc, subscription_id desc limit 1;

-- name: subscription_by_listener
-- The live subscription behind listener $1.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription where listener = $1::text and live;

-- name: subscription_newer
-- An id of path $1 that is newer than $2.
select subscription_id from noetl.subscription where path = $1::text and subscription_id > $2::bigint
order by subscription_id desc limit 1;

-- name: subscription_insert
-- A new id $1 for path $2 of entry $3, version $4, mode $5, source $6, external $7, listener $8, spec $9, with its first
-- intent $10. No row: path or listener is taken.
insert into noetl.subscription (
  subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, pending, pending_since
)
values ($1::bigint, $2::text, $3::bigint, $4::int, $5::text, $6::text, $7::boolean, $8::text, $9::jsonb, 'REGISTERED', $10::jsonb, now())
on conflict do nothing
returning subscription_id;

-- name: subscription_intend
-- Notes the decision $3 for id $1, made on version $2; it holds path and listener $4 from here on. No row: decide again.
update noetl.subscription
set pending = $3::jsonb, pending_since = now(), live = live or state = 'DEACTIVATED', listener = $4::text
where subscription_id = $1::bigint and version = $2::bigint and pending is null
returning subscription_id;

-- name: subscription_apply
-- The intent with event $2 of id $1 is in the log: state $3, bump of the epoch $4, entry $5, version $6, mode $7, source $8,
-- spec $9, reason $10, actor $11, until $12, last lifecycle event $13 of type $14 at $15, external $16. Tells the runtimes.
with applied as (
  update noetl.subscription
  set state = $3::text, live = live and $3::text <> 'DEACTIVATED', version = version + 1, epoch = epoch + $4::bigint,
    catalog_id = $5::bigint, catalog_version = $6::int, mode = $7::text, source = $8::text, external = $16::boolean, spec = $9::jsonb,
    reason = $10::text, actor = $11::text, paused_until = $12::timestamptz,
    last_event_id = $13::bigint, last_event_type = $14::text, updated_at = $15::timestamptz,
    pending = null, pending_since = null
  where subscription_id = $1::bigint and pending ->> 'event_id' = $2::text
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from applied;

-- name: subscription_abandon
-- Forgets the intent with event $2 of id $1, which was decided on a history that has moved on.
update noetl.subscription
set pending = null, pending_since = null, live = live and state <> 'DEACTIVATED', version = version + 1
where subscription_id = $1::bigint and pending ->> 'event_id' = $2::text;

-- name: subscription_adopt
-- The log of id $1 says more than version $2 knew: state $3, last event $4 of type $5 at $6, reason $7, actor $8, until $9.
-- An id that comes back from DEACTIVATED holds its path again only if no other does.
with adopted as (
  update noetl.subscription s
  set state = $3::text, version = version + 1, epoch = epoch + 1,
    live = $3::text <> 'DEACTIVATED' and (live or state = 'DEACTIVATED' and not exists (
      select 1 from noetl.subscription other where other.path = s.path and other.live)),
    last_event_id = $4::bigint, last_event_type = $5::text, updated_at = $6::timestamptz,
    reason = $7::text, actor = $8::text, paused_until = $9::timestamptz
  where subscription_id = $1::bigint and version = $2::bigint and pending is null
  returning subscription_id
)
select subscription_id, pg_notify('noetl_subscription', subscription_id::text) from adopted;

-- name: subscription_paths
-- The paths of the ids $1: as their rows have it, as their logs say ($2), as the catalog has their entries ($3).
select given.subscription_id, coalesce(s.path, given.path, c.path, given.subscription_id::text) as path
from unnest($1::bigint[], $2::text[], $3::bigint[]) as given (subscription_id, path, catalog_id)
left join noetl.subscription s on s.subscription_id = given.subscription_id
left join noetl.catalog c on c.catalog_id = given.catalog_id;

-- name: subscription_missing
-- Those of the ids $1 that have no row.
select given.subscription_id from unnest($1::bigint[]) as given (subscription_id)
where not exists (select 1 from noetl.subscription s where s.subscription_id = given.subscription_id);

-- name: subscription_path_hold
-- All ids of path $1, which nobody changes before this transaction ends.
select subscription_id, state, live, pending is not null as is_changing from noetl.subscription
where path = $1::text order by subscription_id for update;

-- name: subscription_yield
-- The ids $1 hold their path no longer.
update noetl.subscription set live = false, version = version + 1, epoch = epoch + 1
where subscription_id = any($1::bigint[]) and live
returning subscription_id;

-- name: subscription_rebuild
-- Writes id $1 as the log tells it: path $2, entry $3, state $4, last event $5 of type $6 at $7, reason $8, actor $9, until $10, live $11.
-- Which version of the entry a known id uses stays.
insert into noetl.subscription as s (
  subscription_id, path, catalog_id, state, live, version, epoch, last_event_id, last_event_type, updated_at, reason, actor, paused_until
)
values ($1::bigint, $2::text, $3::bigint, $4::text, $11::boolean, 1, 1, $5::bigint, $6::text, $7::timestamptz, $8::text, $9::text, $10::timestamptz)
on conflict (subscription_id) do update
set state = excluded.state, live = excluded.live, version = s.version + 1, epoch = s.epoch + 1,
  last_event_id = excluded.last_event_id, last_event_type = excluded.last_event_type,
  updated_at = excluded.updated_at, reason = excluded.reason, actor = excluded.actor, paused_until = excluded.paused_until
where s.pending is null
  and (s.state, s.live, s.last_event_id) is distinct from (excluded.state, excluded.live, excluded.last_event_id)
returning subscription_id;

-- name: subscription_describe
-- What the catalog entry of id $1 says, for a row that was made from the log alone: version $2, mode $3, source $4, listener $5, spec $6, external $7.
update noetl.subscription
set catalog_version = $2::int, mode = $3::text, source = $4::text, listener = $5::text, spec = $6::jsonb, external = $7::boolean, trouble = null
where subscription_id = $1::bigint and mode is null;

-- name: subscription_trouble
-- What keeps id $1 from working, in words $2; null when nothing does.
update noetl.subscription set trouble = $2::text where subscription_id = $1::bigint and trouble is distinct from $2::text;

-- name: subscription_list
-- A page, newest id first: state $1, path pattern $2 (LIKE), mode $3, ids below $4, at most $5.
-- plan: each time
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription
where ($1::text is null or state = $1)
  and ($2::text is null or path like $2)
  and ($3::text is null or mode = $3)
  and ($4::bigint is null or subscription_id < $4)
order by subscription_id desc
limit $5::int;

-- name: subscription_list_oldest
-- The same, oldest id first: ids above $4.
-- plan: each time
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription
where ($1::text is null or state = $1)
  and ($2::text is null or path like $2)
  and ($3::text is null or mode = $3)
  and ($4::bigint is null or subscription_id > $4)
order by subscription_id
limit $5::int;

-- name: subscription_count
-- How many there are by state.
select state, count(*)::int as count from noetl.subscription group by state;

-- name: subscription_due
-- Ids that need a hand, at most $2: intents older than $1 seconds, pauses whose time is over, drains whose time is over or
-- that nobody works on any more. Who works on an external one is not known here; it says so by deactivating it.
(select subscription_id, 'intent' as need, version from noetl.subscription
 where pending is not null and pending_since < now() - make_interval(secs => $1::double precision) limit $2::int)
union all
(select subscription_id, 'resume', version from noetl.subscription
 where state = 'PAUSED' and pending is null and paused_until <= now() limit $2::int)
union all
(select subscription_id, case when paused_until <= now() then 'expire' else 'deactivate' end, version from noetl.subscription
 where state = 'DRAINING' and pending is null
   and (paused_until <= now() or not external and mode is not null and (owner is null or lease_until < now())) limit $2::int)
union all
(select subscription_id, 'describe', version from noetl.subscription
 where mode is null and trouble is null and live limit $2::int);

-- name: subscription_live_page
-- Live ids after $1 without an open intent, at most $2, with the newest event they know of.
select subscription_id, version, last_event_id from noetl.subscription
where live and pending is null and subscription_id > $1::bigint order by subscription_id limit $2::int;

-- name: subscription_live_pull
-- Live subscriptions that our runtimes pull, newest first, at most $1.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription where live and mode = 'pull' and not external order by subscription_id desc limit $1::int;

-- name: subscription_listeners
-- Listeners of ours after id $1, at most $2: active ones, and those with a trouble that may be over.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription
where live and mode = 'push' and not external and (state = 'ACTIVE' or trouble is not null) and subscription_id > $1::bigint
order by subscription_id limit $2::int;

-- name: subscription_listeners_recent
-- The $1 of these that changed last.
select subscription_id, path, catalog_id, catalog_version, mode, source, external, listener, spec, state, live, version, epoch, pending,
  reason, actor, paused_until::text as paused_until, last_event_type, last_event_id, updated_at::text as updated_at, owner,
  case when owner is not null then lease_until > now() else false end as is_owned, trouble
from noetl.subscription
where live and mode = 'push' and not external and (state = 'ACTIVE' or trouble is not null)
order by updated_at desc nulls last limit $1::int;

-- name: subscription_troubled
-- Live subscriptions in trouble, newest first, at most $1.
select subscription_id, path, trouble from noetl.subscription
where live and trouble is not null order by subscription_id desc limit $1::int;

-- name: subscription_suspicious
-- Live subscriptions that an operator should look at, at most $4: in trouble, paused without an end for more than $1
-- seconds, draining for more than $2, active and driven by nobody for more than $3; and those that another id of their
-- path has superseded.
select subscription_id, path, actor, trouble, external, suspicion, seconds from (
  select subscription_id, path, actor, trouble, external, extract(epoch from now() - updated_at)::float8 as seconds,
    case
      when not live then 'superseded'
      when trouble is not null then 'trouble'
      when state = 'PAUSED' and paused_until is null and updated_at < now() - make_interval(secs => $1::double precision) then 'paused'
      when state = 'DRAINING' and updated_at < now() - make_interval(secs => $2::double precision) then 'draining'
      when state = 'ACTIVE' and mode = 'pull' and not external and updated_at < now() - make_interval(secs => $3::double precision)
        and greatest(lease_until, updated_at) < now() - make_interval(secs => $3::double precision) then 'undriven'
    end as suspicion
  from noetl.subscription where live or state <> 'DEACTIVATED'
) as judged
where suspicion is not null
order by subscription_id limit $4::int;

-- name: subscription_forgettable
-- Those of the ids $1 that nobody needs any more: deactivated before $2, nothing under way, no given-up message; and
-- those that have no row at all.
select given.subscription_id
from unnest($1::bigint[]) as given (subscription_id)
left join noetl.subscription s on s.subscription_id = given.subscription_id
where (s.subscription_id is null or s.state = 'DEACTIVATED' and not s.live and s.pending is null and s.updated_at < $2::timestamptz)
  and not exists (select 1 from noetl.subscription_dead_letter d where d.subscription_id = given.subscription_id);

-- name: subscription_forget
-- Removes the rows of the ids $1 under the same conditions.
delete from noetl.subscription s
where s.subscription_id = any($1::bigint[]) and s.state = 'DEACTIVATED' and not s.live and s.pending is null
  and s.updated_at < $2::timestamptz
  and not exists (select 1 from noetl.subscription_dead_letter d where d.subscription_id = s.subscription_id);
