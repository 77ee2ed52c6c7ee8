-- What the control plane adds to the event log: exact positions per execution, times, sealed secrets, and a quarantine
-- for what cannot be projected. Nothing is renamed.

-- Older installations keep the execution table by a row trigger on events, which calls every failed command the end of
-- its execution. The read model is written by us, in the transaction of the events, or a moment later for events that
-- others write; a second writer with other rules would undo it. The original's own upgrade drops the trigger as well.
-- Its function stays: it is harmless, and a way back needs it.
drop trigger if exists trg_event_to_execution on noetl.event;

-- Versions that another writer put there are not ours: everything is adopted anew, in id order.
update noetl.event set stream_version = null where stream_version is not null;

-- `stream_version` is dense per execution for everything appended through us. Rows written by others have
-- none until they are adopted; the partial index holds just those, so finding them costs O(new rows).
-- Not unique: the execution's lock makes versions dense, and a foreign writer must never be refused by an
-- index of ours.
create index if not exists event_stream_version_idx
  on noetl.event (execution_id, stream_version) where stream_version is not null;
create index if not exists event_unadopted_idx
  on noetl.event (execution_id, event_id) where stream_version is null;
-- By digest: an index entry has a largest size, and a foreign writer may use ids of any length.
create index if not exists event_command_claim_idx
  on noetl.event (execution_id, md5(meta ->> 'command_id')) where event_type in ('command.claimed', 'command_claimed');

-- `ingest_time` is when an event came into this log, by the clock of its database: what an answer "as of a time" goes by.
-- Rows that had none got the moment of the adoption; the time they carry themselves is the best that is known of them.
update noetl.event
set ingest_time = coalesce(event_time, created_at at time zone 'utc')
where ingest_time is null or ingest_time = (select applied_at from noetl.cp_migration where version = 1);

-- For writers that name none: the moment of the INSERT. now() would be the beginning of their transaction, long before.
alter table noetl.event
  alter column ingest_time set default clock_timestamp(),
  alter column ingest_time set not null;

-- Secrets of an event, sealed with the installation's secret key: the JSON columns hold what may be shown, and this
-- what was taken out.
alter table noetl.event add column if not exists sealed text;

-- Envelopes that could not be stored, each with its reason.
create table if not exists noetl.projector_quarantine (
  quarantine_id bigserial primary key,
  event_id bigint,
  execution_id bigint,
  -- As received; bytes, because not everything received is text.
  envelope bytea not null,
  reason text not null,
  source text not null,
  attempts integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  sealed text
);
create unique index if not exists projector_quarantine_event_key
  on noetl.projector_quarantine (coalesce(execution_id, -1), coalesce(event_id, -1), md5(envelope));
