-- Subscriptions that somebody else's runtime delivers: they live in the same lifecycle, and no daemon leases them.
alter table noetl.subscription add column if not exists external boolean not null default false;
update noetl.subscription set external = true
where mode = 'pull' and (source <> 'nats' or spec ->> 'activation' = 'scheduled') or spec ->> 'verify' = 'pubsub_oidc';

-- The log may hold a status that nobody knows.
alter table noetl.subscription drop constraint if exists subscription_state_check;
alter table noetl.subscription add constraint subscription_state_check
  check (state in ('REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED', 'UNKNOWN'));
