-- name: retention_running(from_id, to_id)
-- Executions with ids from `from_id` up to `to_id` that have not ended, and one of them. A subscription, which its start
-- event tells and nothing else, is no execution.
select count(*)::text as count, min(execution_id) as execution_id
from noetl.execution
where execution_id >= :from_id::bigint and execution_id < :to_id::bigint and status not in (:TERMINAL_STATUSES)
  and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered');

-- name: retention_subscriptions(from_id, to_id, after, over_before, limit_rows)
-- Subscriptions with ids from `from_id` up to `to_id`, in order `after`, at most `limit_rows`; over are those that were
-- deactivated before `over_before`.
select execution_id as subscription_id,
  last_event_type in ('subscription.deactivated', 'subscription_deactivated') and updated_at < :over_before::timestamptz as is_over
from noetl.execution
where execution_id >= :from_id::bigint and execution_id < :to_id::bigint and execution_id > :after::bigint
  and start_event_type in ('subscription.registered', 'subscription_registered')
order by execution_id limit :limit_rows::int;

-- name: retention_columns
-- The columns of the event table, as a list for a statement.
select string_agg(quote_ident(attname), ', ' order by attnum) as columns
from pg_attribute where attrelid = 'noetl.event'::regclass and attnum > 0 and not attisdropped and attgenerated = '';

-- name: retention_unpublished(from_id, to_id)
-- Outbox rows of the executions from `from_id` up to `to_id` that are not published yet.
select count(*)::text as count
from noetl.outbox
where execution_id >= :from_id::bigint and execution_id < :to_id::bigint and status <> 'PUBLISHED';

-- name: retention_unknown(from_id, to_id)
-- An execution from `from_id` up to `to_id` whose events nobody has numbered and which the read model does not know.
select e.execution_id
from noetl.event e
where e.execution_id >= :from_id::bigint and e.execution_id < :to_id::bigint and e.stream_version is null
  and not exists (select 1 from noetl.execution x where x.execution_id = e.execution_id)
limit 1;

-- name: retention_contents(from_id, to_id, since, subscription_ids)
-- How many events and executions there are from `from_id` up to `to_id`, and whether one event is not older than
-- `since`; without the subscriptions `subscription_ids`, whose events stay.
select
  count(*)::text as events,
  coalesce(max(created_at) >= :since::timestamptz at time zone 'utc', false) as has_recent,
  (
    select count(*)::text from noetl.execution x
    where x.execution_id >= :from_id::bigint and x.execution_id < :to_id::bigint and x.execution_id <> all(:subscription_ids::bigint[])
  ) as executions
from noetl.event
where execution_id >= :from_id::bigint and execution_id < :to_id::bigint and execution_id <> all(:subscription_ids::bigint[]);

-- name: retention_touched(from_id, to_id, since, cutoff)
-- Whether anything was appended to the executions from `from_id` up to `to_id` after `since`: by us (the read model
-- moves), or by others (the row has no number and is not older than `cutoff`).
select
  exists (
    select 1 from noetl.execution
    where execution_id >= :from_id::bigint and execution_id < :to_id::bigint and updated_at >= :since::timestamptz
  ) or exists (
    select 1 from noetl.event
    where execution_id >= :from_id::bigint and execution_id < :to_id::bigint and stream_version is null
      and created_at >= :cutoff::timestamptz at time zone 'utc'
  ) as touched;

-- name: retention_default_executions(from_id, to_id, limit_rows)
-- Executions of the default partition with ids from `from_id` up to `to_id`, in order, at most `limit_rows`.
with recursive found as (
  (select execution_id from noetl.event_default
   where execution_id >= :from_id::bigint and execution_id < :to_id::bigint
   order by execution_id limit 1)
  union all
  select (
    select e.execution_id from noetl.event_default e
    where e.execution_id > found.execution_id and e.execution_id < :to_id::bigint
    order by e.execution_id limit 1
  )
  from found where found.execution_id is not null
)
select execution_id from found where execution_id is not null limit :limit_rows::int;

-- name: retention_judge(execution_ids, cutoff, forgotten)
-- What keeps each of the executions `execution_ids` from being deleted, `cutoff`: recent events, a status that is not an
-- end, outbox rows that wait, or events that the read model does not know yet. Null: nothing does. `forgotten` are
-- subscriptions that may go.
select
  given.execution_id,
  case
    when x.start_event_type in ('subscription.registered', 'subscription_registered') and x.execution_id <> all(:forgotten::bigint[]) then 'subscription'
    when coalesce(x.start_event_type, '') not in ('subscription.registered', 'subscription_registered')
      and x.status not in (:TERMINAL_STATUSES) then 'running'
    when x.execution_id is null and facts.has_unnumbered then 'unknown'
    when facts.has_recent then 'recent'
    when exists (
      select 1 from noetl.outbox o where o.execution_id = given.execution_id and o.status <> 'PUBLISHED'
    ) then 'unpublished'
  end as reason,
  facts.events::text as events
from unnest(:execution_ids::bigint[]) as given (execution_id)
left join noetl.execution x on x.execution_id = given.execution_id
cross join lateral (
  select
    count(*) as events,
    coalesce(bool_or(e.stream_version is null), false) as has_unnumbered,
    coalesce(max(e.created_at) >= :cutoff::timestamptz at time zone 'utc', false) as has_recent
  from noetl.event e
  where e.execution_id = given.execution_id
) as facts;

-- name: retention_forgotten(execution_ids)
-- Those of the executions `execution_ids` that the read model does not hold.
select given.execution_id
from unnest(:execution_ids::bigint[]) as given (execution_id)
where not exists (select 1 from noetl.execution x where x.execution_id = given.execution_id);

-- name: retention_delete_events(execution_ids, limit_rows)
-- Deletes up to `limit_rows` events of the executions `execution_ids` from the default partition.
delete from noetl.event_default
where (execution_id, event_id) in (
  select execution_id, event_id from noetl.event_default where execution_id = any(:execution_ids::bigint[]) limit :limit_rows::int
);

-- name: retention_eventless(from_id, to_id, ended_before, limit_rows)
-- Ended executions from `from_id` up to `to_id` whose end is before `ended_before` and of which no event is left, in
-- order, at most `limit_rows`.
select x.execution_id
from noetl.execution x
where x.execution_id >= :from_id::bigint and x.execution_id < :to_id::bigint
  and case when x.start_event_type in ('subscription.registered', 'subscription_registered')
    then x.last_event_type in ('subscription.deactivated', 'subscription_deactivated') and x.updated_at < :ended_before::timestamptz
    else x.status in (:TERMINAL_STATUSES) and x.end_time < :ended_before::timestamptz end
  and not exists (select 1 from noetl.event e where e.execution_id = x.execution_id)
order by x.execution_id
limit :limit_rows::int;

-- name: retention_lock_ended(execution_ids, untouched_since)
-- Locks those of the executions `execution_ids` that have ended, and of the subscriptions that are over, untouched since
-- `untouched_since`.
select execution_id
from noetl.execution
where execution_id = any(:execution_ids::bigint[])
  and case when start_event_type in ('subscription.registered', 'subscription_registered')
    then last_event_type in ('subscription.deactivated', 'subscription_deactivated')
    else status in (:TERMINAL_STATUSES) end
  and updated_at < :untouched_since::timestamptz
order by execution_id
for update;

-- name: retention_without_events(execution_ids)
-- Those of the executions `execution_ids` that have no event.
select given.execution_id
from unnest(:execution_ids::bigint[]) as given (execution_id)
where not exists (select 1 from noetl.event e where e.execution_id = given.execution_id);

-- name: retention_delete_snapshots(execution_ids)
-- Snapshots of the executions `execution_ids`, under both names they go by.
delete from noetl.projection_snapshot s
using unnest(:execution_ids::text[]) as given (execution_id)
where s.aggregate_id = given.execution_id
   or (s.aggregate_id ~>=~ ('execution/' || given.execution_id || '/')
       and s.aggregate_id ~<~ ('execution/' || given.execution_id || '0'));

-- name: retention_delete_projections(execution_ids)
delete from noetl.projection where execution_id = any(:execution_ids::bigint[]);

-- name: retention_delete_dedup(execution_ids)
-- Dedup records of the executions `execution_ids` whose time is over; the others go on refusing a second start.
delete from noetl.subscription_dedup
where execution_id = any(:execution_ids::bigint[]) and (expires_at is null or expires_at < now());

-- name: retention_delete_commands(execution_ids)
-- Commands of the executions `execution_ids`, the playbooks that they have started, and stored results.
with children as (delete from noetl.child where parent_execution_id = any(:execution_ids::bigint[])),
  results as (delete from noetl.stored_result where execution_id = any(:execution_ids::bigint[]))
delete from noetl.command where execution_id = any(:execution_ids::bigint[]);

-- name: retention_delete_requests(execution_ids)
-- What requests with an Idempotency-Key stored in the executions `execution_ids`.
delete from noetl.event_request where execution_id = any(:execution_ids::bigint[]);

-- name: retention_delete_executions(execution_ids)
delete from noetl.execution where execution_id = any(:execution_ids::bigint[]);

-- name: purge_commands(older_than_days, limit_rows)
-- Deletes up to `limit_rows` commands that ended more than `older_than_days` ago.
delete from noetl.command
where (execution_id, command_id) in (
  select execution_id, command_id from noetl.command
  where completed_at < now() - make_interval(days => :older_than_days::int)
  limit :limit_rows::int
);

-- name: purge_runtimes(stale_minutes)
-- Deletes runtimes whose last heartbeat is more than `stale_minutes` minutes ago.
delete from noetl.runtime where heartbeat < now() - make_interval(mins => :stale_minutes::int);
