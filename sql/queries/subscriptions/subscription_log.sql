-- name: subscription_log_newest(subscription_ids)
-- The newest lifecycle event of each of the ids `subscription_ids`.
select given.subscription_id, newest.* from unnest(:subscription_ids::bigint[]) as given (subscription_id)
cross join lateral (
  select event_id, event_type, status, catalog_id, created_at::text as created_at,
    coalesce(nullif(node_name, ''), nullif(context ->> 'path', '')) as path, meta
  from noetl.event
  where execution_id = given.subscription_id and noetl.is_lifecycle(event_type)
  order by event_id desc limit 1
) as newest;

-- name: subscription_log_moved(execution_id, after_event_id)
-- Whether the log of id `execution_id` has a lifecycle event after event `after_event_id`.
select exists (
  select 1 from noetl.event
  where execution_id = :execution_id::bigint and event_id > :after_event_id::bigint and noetl.is_lifecycle(event_type)
) as moved;

-- name: subscription_log_ids(after, limit_rows)
-- Every id that the log of this shard knows, in order `after`, at most `limit_rows`.
select distinct execution_id as subscription_id from noetl.event
where noetl.is_lifecycle(event_type) and execution_id > :after::bigint
order by execution_id limit :limit_rows::int;

-- name: subscription_log_unadopted(after, limit_rows)
-- Ids `after` with lifecycle events that others wrote and nobody has numbered yet, at most `limit_rows`, with the newest
-- of these.
select execution_id as subscription_id, max(event_id) as event_id from noetl.event
where noetl.is_lifecycle(event_type) and stream_version is null and execution_id > :after::bigint
group by execution_id order by execution_id limit :limit_rows::int;

-- name: subscription_news_note(subscription_id)
-- The logs of the ids `subscription_id` have grown.
insert into noetl.subscription_news (subscription_id) select unnest(:subscription_id::bigint[]);

-- name: subscription_news_list(limit_rows)
-- The oldest `limit_rows` notes of logs that have grown.
select news_id, subscription_id from noetl.subscription_news order by news_id limit :limit_rows::int;

-- name: subscription_news_delete(news_ids)
-- The read model has followed the notes `news_ids`.
delete from noetl.subscription_news where news_id = any(:news_ids::bigint[]);

-- name: subscription_log_history(execution_id, after, before, newest_first, limit_rows)
-- Events of id `execution_id` whose type begins with subscription, after event `after` and before `before` (null: all), oldest first
-- unless `newest_first`, at most `limit_rows`.
select event_id, event_type, status, catalog_id, created_at::text as created_at, meta from noetl.event
where execution_id = :execution_id::bigint and event_id > :after::bigint and (:before::bigint is null or event_id < :before::bigint)
  and (event_type like 'subscription.%' or event_type like 'subscription\_%')
order by case when :newest_first::boolean then -event_id else event_id end limit :limit_rows::int;
