-- Secrets of an event, sealed with the installation's secret key: the JSON columns hold what may be shown, and this
-- what was taken out. Likewise for envelopes and messages that were set aside.
alter table noetl.event add column if not exists sealed text;
alter table noetl.projector_quarantine add column if not exists sealed text;
alter table noetl.subscription_dead_letter add column if not exists sealed text;

-- The keys that have sealed something, by id: whoever lacks one of them cannot open everything.
create table if not exists noetl.seal_key (
  key_id text primary key,
  first_used_at timestamptz not null default now()
);
