-- name: subscription_log_newest
-- The newest lifecycle event of each of the ids $1.
select given.subscription_id, newest.* from unnest($1::bigint[]) as given (subscription_id)
cross join lateral (
  select event_id, event_type, status, catalog_id, created_at::text as created_at,
    coalesce(nullif(node_name, ''), nullif(context ->> 'path', '')) as path, meta
  from noetl.event
  where execution_id = given.subscription_id and noetl.is_lifecycle(event_type)
  order by event_id desc limit 1
) as newest;

-- name: subscription_log_moved
-- Whether the log of id $1 has a lifecycle event after event $2.
select exists (
  select 1 from noetl.event
  where execution_id = $1::bigint and event_id > $2::bigint and noetl.is_lifecycle(event_type)
) as moved;

-- name: subscription_log_ids
-- Every id that the log of this shard knows, in order after $1, at most $2.
select distinct execution_id as subscription_id from noetl.event
where noetl.is_lifecycle(event_type) and execution_id > $1::bigint
order by execution_id limit $2::int;

-- name: subscription_log_unadopted
-- Ids after $1 with lifecycle events that others wrote and nobody has numbered yet, at most $2, with the newest of these.
select execution_id as subscription_id, max(event_id) as event_id from noetl.event
where noetl.is_lifecycle(event_type) and stream_version is null and execution_id > $1::bigint
group by execution_id order by execution_id limit $2::int;

-- name: subscription_news_note
-- The logs of the ids $1 have grown.
insert into noetl.subscription_news (subscription_id) select unnest($1::bigint[]);

-- name: subscription_news_list
-- The oldest $1 notes of logs that have grown.
select news_id, subscription_id from noetl.subscription_news order by news_id limit $1::int;

-- name: subscription_news_delete
-- The read model has followed the notes $1.
delete from noetl.subscription_news where news_id = any($1::bigint[]);

-- name: subscription_log_history
-- Events of id $1 whose type begins with subscription, after event $2, at most $3.
select event_id, event_type, status, catalog_id, created_at::text as created_at, meta from noetl.event
where execution_id = $1::bigint and event_id > $2::bigint and (event_type like 'subscription.%' or event_type like 'subscription\_%')
order by event_id limit $3::int;
