-- name: retention_running
-- Executions with ids from $1 up to $2 that have not ended, and one of them. A subscription, which its start
-- event tells and nothing else, is no execution.
select count(*)::text as count, min(execution_id) as execution_id
from noetl.execution
where execution_id >= $1::bigint and execution_id < $2::bigint and status not in ('COMPLETED', 'FAILED', 'CANCELLED')
  and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered');

-- name: retention_subscriptions
-- Subscriptions with ids from $1 up to $2, in order after $3, at most $5; over are those that were deactivated before $4.
select execution_id as subscription_id,
  last_event_type in ('subscription.deactivated', 'subscription_deactivated') and updated_at < $4::timestamptz as is_over
from noetl.execution
where execution_id >= $1::bigint and execution_id < $2::bigint and execution_id > $3::bigint
  and start_event_type in ('subscription.registered', 'subscription_registered')
order by execution_id limit $5::int;

-- name: retention_columns
-- The columns of the event table, as a list for a statement.
select string_agg(quote_ident(attname), ', ' order by attnum) as columns
from pg_attribute where attrelid = 'noetl.event'::regclass and attnum > 0 and not attisdropped and attgenerated = '';

-- name: retention_unpublished
-- Outbox rows of the executions from $1 up to $2 that are not published yet.
select count(*)::text as count
from noetl.outbox
where execution_id >= $1::bigint and execution_id < $2::bigint and status <> 'PUBLISHED';

-- name: retention_unknown
-- An execution from $1 up to $2 whose events nobody has numbered and which the read model does not know.
select e.execution_id
from noetl.event e
where e.execution_id >= $1::bigint and e.execution_id < $2::bigint and e.stream_version is null
  and not exists (select 1 from noetl.execution x where x.execution_id = e.execution_id)
limit 1;

-- name: retention_contents
-- How many events and executions there are from $1 up to $2, and whether one event is not older than $3; without the
-- subscriptions $4, whose events stay.
select
  count(*)::text as events,
  coalesce(max(created_at) >= $3::timestamptz at time zone 'utc', false) as has_recent,
  (
    select count(*)::text from noetl.execution x
    where x.execution_id >= $1::bigint and x.execution_id < $2::bigint and x.execution_id <> all($4::bigint[])
  ) as executions
from noetl.event
where execution_id >= $1::bigint and execution_id < $2::bigint and execution_id <> all($4::bigint[]);

-- name: retention_touched
-- Whether anything was appended to the executions from $1 up to $2 after $3: by us (the read model moves),
-- or by others (the row has no number and is not older than $4).
select
  exists (
    select 1 from noetl.execution
    where execution_id >= $1::bigint and execution_id < $2::bigint and updated_at >= $3::timestamptz
  ) or exists (
    select 1 from noetl.event
    where execution_id >= $1::bigint and execution_id < $2::bigint and stream_version is null
      and created_at >= $4::timestamptz at time zone 'utc'
  ) as touched;

-- name: retention_default_executions
-- Executions of the default partition with ids from $1 up to $2, in order, at most $3.
with recursive found as (
  (select execution_id from noetl.event_default
   where execution_id >= $1::bigint and execution_id < $2::bigint
   order by execution_id limit 1)
  union all
  select (
    select e.execution_id from noetl.event_default e
    where e.execution_id > found.execution_id and e.execution_id < $2::bigint
    order by e.execution_id limit 1
  )
  from found where found.execution_id is not null
)
select execution_id from found where execution_id is not null limit $3::int;

-- name: retention_judge
-- What keeps each of the executions $1 from being deleted, cutoff $2: recent events, a status that is not an
-- end, outbox rows that wait, or events that the read model does not know yet. Null: nothing does. $3 are
-- subscriptions that may go.
select
  given.execution_id,
  case
    when x.start_event_type in ('subscription.registered', 'subscription_registered') and x.execution_id <> all($3::bigint[]) then 'subscription'
    when coalesce(x.start_event_type, '') not in ('subscription.registered', 'subscription_registered')
      and x.status not in ('COMPLETED', 'FAILED', 'CANCELLED') then 'running'
    when x.execution_id is null and facts.has_unnumbered then 'unknown'
    when facts.has_recent then 'recent'
    when exists (
      select 1 from noetl.outbox o where o.execution_id = given.execution_id and o.status <> 'PUBLISHED'
    ) then 'unpublished'
  end as reason,
  facts.events::text as events
from unnest($1::bigint[]) as given (execution_id)
left join noetl.execution x on x.execution_id = given.execution_id
cross join lateral (
  select
    count(*) as events,
    coalesce(bool_or(e.stream_version is null), false) as has_unnumbered,
    coalesce(max(e.created_at) >= $2::timestamptz at time zone 'utc', false) as has_recent
  from noetl.event e
  where e.execution_id = given.execution_id
) as facts;

-- name: retention_forgotten
-- Those of the executions $1 that the read model does not hold.
select given.execution_id
from unnest($1::bigint[]) as given (execution_id)
where not exists (select 1 from noetl.execution x where x.execution_id = given.execution_id);

-- name: retention_delete_events
-- Deletes up to $2 events of the executions $1 from the default partition.
delete from noetl.event_default
where (execution_id, event_id) in (
  select execution_id, event_id from noetl.event_default where execution_id = any($1::bigint[]) limit $2::int
);

-- name: retention_eventless
-- Ended executions from $1 up to $2 whose end is before $3 and of which no event is left, in order, at most $4.
select x.execution_id
from noetl.execution x
where x.execution_id >= $1::bigint and x.execution_id < $2::bigint
  and case when x.start_event_type in ('subscription.registered', 'subscription_registered')
    then x.last_event_type in ('subscription.deactivated', 'subscription_deactivated') and x.updated_at < $3::timestamptz
    else x.status in ('COMPLETED', 'FAILED', 'CANCELLED') and x.end_time < $3::timestamptz end
  and not exists (select 1 from noetl.event e where e.execution_id = x.execution_id)
order by x.execution_id
limit $4::int;

-- name: retention_lock_ended
-- Locks those of the executions $1 that have ended, and of the subscriptions that are over, untouched since $2.
select execution_id
from noetl.execution
where execution_id = any($1::bigint[])
  and case when start_event_type in ('subscription.registered', 'subscription_registered')
    then last_event_type in ('subscription.deactivated', 'subscription_deactivated')
    else status in ('COMPLETED', 'FAILED', 'CANCELLED') end
  and updated_at < $2::timestamptz
order by execution_id
for update;

-- name: retention_without_events
-- Those of the executions $1 that have no event.
select given.execution_id
from unnest($1::bigint[]) as given (execution_id)
where not exists (select 1 from noetl.event e where e.execution_id = given.execution_id);

-- name: retention_delete_snapshots
-- Snapshots of the executions $1, under both names they go by.
delete from noetl.projection_snapshot s
using unnest($1::text[]) as given (execution_id)
where s.aggregate_id = given.execution_id
   or (s.aggregate_id ~>=~ ('execution/' || given.execution_id || '/')
       and s.aggregate_id ~<~ ('execution/' || given.execution_id || '0'));

-- name: retention_delete_projections
delete from noetl.projection where execution_id = any($1::bigint[]);

-- name: retention_delete_dedup
-- Dedup records of the executions $1 whose time is over; the others go on refusing a second start.
delete from noetl.subscription_dedup
where execution_id = any($1::bigint[]) and (expires_at is null or expires_at < now());

-- name: retention_delete_commands
-- Commands of the executions $1, and the playbooks that they have started.
with children as (delete from noetl.child where parent_execution_id = any($1::bigint[]))
delete from noetl.command where execution_id = any($1::bigint[]);

-- name: retention_delete_executions
delete from noetl.execution where execution_id = any($1::bigint[]);

-- name: purge_commands
-- Deletes up to $2 commands that ended more than $1 days ago.
delete from noetl.command
where (execution_id, command_id) in (
  select execution_id, command_id from noetl.command
  where completed_at < now() - make_interval(days => $1::int)
  limit $2::int
);

-- name: purge_runtimes
-- Deletes runtimes whose last heartbeat is more than $1 minutes ago.
delete from noetl.runtime where heartbeat < now() - make_interval(mins => $1::int);
