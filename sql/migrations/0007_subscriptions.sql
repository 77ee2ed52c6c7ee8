-- Subscriptions: the read model of their lifecycle (the log of each id is the truth), the leases of those who
-- drive them, the fences that make a pause final, and the messages that were given up.

-- In the cluster database ------------------------------------------------------------------------------

create table if not exists noetl.subscription (
  subscription_id bigint primary key,
  path text not null,
  catalog_id bigint not null,
  catalog_version integer,
  -- Null until somebody has read the catalog entry of an adopted row.
  mode text check (mode in ('pull', 'push')),
  source text,
  listener text,
  spec jsonb not null default '{}',
  -- UNKNOWN: the log holds a status that nobody knows.
  state text not null check (state in ('REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED', 'UNKNOWN')),
  -- Whether the id holds its path and its listener: not DEACTIVATED, or on the way out of it.
  live boolean not null default true,
  -- Counts the applied changes; whoever decides on an older one decides again.
  version bigint not null default 0,
  -- Grows whenever the right to start executions changes hands or ends.
  epoch bigint not null default 0,
  -- A decision that is not known to be in the log yet: enough to write the same event again.
  pending jsonb,
  pending_since timestamptz,
  reason text,
  actor text,
  paused_until timestamptz,
  last_event_type text,
  last_event_id bigint,
  updated_at timestamptz,
  owner text,
  lease_until timestamptz not null default '-infinity',
  -- What keeps its owner from delivering, in words.
  trouble text,
  created_at timestamptz not null default now(),
  -- Delivered by somebody else's runtime: the same lifecycle, and no daemon leases it.
  external boolean not null default false
);
create unique index if not exists subscription_live_path_key on noetl.subscription (path) where live;
create unique index if not exists subscription_live_listener_key
  on noetl.subscription (listener) where live and listener is not null;
create index if not exists subscription_path_idx on noetl.subscription (path text_pattern_ops, subscription_id desc);
create index if not exists subscription_state_idx on noetl.subscription (state, subscription_id desc);
create index if not exists subscription_pending_idx on noetl.subscription (pending_since) where pending is not null;
create index if not exists subscription_owner_idx on noetl.subscription (owner) where owner is not null;

create table if not exists noetl.subscription_dead_letter (
  dead_letter_id bigserial primary key,
  subscription_id bigint not null,
  -- Tells the same message from another: `nats:<stream>:<sequence>`.
  identity text not null,
  subject text,
  headers jsonb,
  body bytea not null,
  reason text not null,
  attempts integer not null,
  created_at timestamptz not null default now(),
  -- Its secrets; see the column of the same name on events.
  sealed text,
  unique (subscription_id, identity)
);

-- In every shard ---------------------------------------------------------------------------------------

-- A start is committed only by those who show the epoch that stands here.
create table if not exists noetl.subscription_fence (
  subscription_id bigint primary key,
  epoch bigint not null
);

-- Deduplicated starts: one row per key, in the database of the execution it started.
create table if not exists noetl.subscription_dedup (
  subscription_id bigint not null,
  dedup_key text not null,
  execution_id bigint not null,
  seen_at timestamptz not null default now(),
  primary key (subscription_id, dedup_key)
);
alter table noetl.subscription_dedup add column if not exists expires_at timestamptz;
create index if not exists subscription_dedup_expires_idx on noetl.subscription_dedup (expires_at);
create index if not exists subscription_dedup_execution_idx
  on noetl.subscription_dedup (execution_id);

-- The six types, as they may be written; src/domain/subscriptions has the same list.
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

-- An adopted log: one row per subscription it knows. Of several ids that are not deactivated the newest holds
-- the path; the original could make them by racing registrations.
with lifecycle as (
  select execution_id, event_id, event_type, catalog_id, created_at, node_name, context,
    row_number() over (partition by execution_id order by event_id desc) as age
  from noetl.event
  where event_type in ('subscription.registered', 'subscription.activated', 'subscription.paused',
    'subscription.resumed', 'subscription.draining', 'subscription.deactivated')
),
newest as (
  select execution_id, event_id, event_type, catalog_id, created_at,
    coalesce(nullif(node_name, ''), context ->> 'path', execution_id::text) as path,
    case event_type
      when 'subscription.registered' then 'REGISTERED'
      when 'subscription.paused' then 'PAUSED'
      when 'subscription.draining' then 'DRAINING'
      when 'subscription.deactivated' then 'DEACTIVATED'
      else 'ACTIVE'
    end as state
  from lifecycle where age = 1
)
insert into noetl.subscription (
  subscription_id, path, catalog_id, state, live, version, last_event_type, last_event_id, updated_at
)
select execution_id, path, catalog_id, state,
  state <> 'DEACTIVATED'
    and row_number() over (partition by path, state <> 'DEACTIVATED' order by execution_id desc) = 1,
  1, event_type, event_id, created_at at time zone 'utc'
from newest
on conflict (subscription_id) do nothing;

-- In a shard those rows lie where nobody looks: have every log followed once.
insert into noetl.subscription_news (subscription_id)
select distinct execution_id from noetl.event where noetl.is_lifecycle(event_type) order by execution_id;
