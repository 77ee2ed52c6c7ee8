-- The logs of subscriptions are the truth, whoever writes them. What is new in them is found at once: by an index
-- where others put it straight into the table, by a note where it came in through us.

-- The six types, as they may be written; src/domain/subscription.ts has the same list.
create or replace function noetl.is_lifecycle(event_type text) returns boolean
  language sql immutable parallel safe
  return event_type in ('subscription.registered', 'subscription.activated', 'subscription.paused',
    'subscription.resumed', 'subscription.draining', 'subscription.deactivated',
    'subscription_registered', 'subscription_activated', 'subscription_paused',
    'subscription_resumed', 'subscription_draining', 'subscription_deactivated');

create index if not exists event_lifecycle_idx on noetl.event (execution_id, event_id)
  where noetl.is_lifecycle(event_type);
create index if not exists event_lifecycle_unadopted_idx on noetl.event (execution_id, event_id)
  where noetl.is_lifecycle(event_type) and stream_version is null;

-- Logs of this shard that have grown since the read model in the cluster database followed them.
create table if not exists noetl.subscription_news (
  news_id bigserial primary key,
  subscription_id bigint not null
);

-- The rows that an earlier step made from the log of a shard lie in that shard, where nobody looks: have every log
-- followed once more.
insert into noetl.subscription_news (subscription_id)
select distinct execution_id from noetl.event where noetl.is_lifecycle(event_type) order by execution_id;
