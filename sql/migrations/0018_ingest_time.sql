-- `ingest_time` is when an event came into this log, by the clock of its database: what an answer "as of a time" goes by.
-- Rows that had none got the moment of the adoption; the time they carry themselves is the best that is known of them.
update noetl.event
set ingest_time = coalesce(event_time, created_at at time zone 'utc')
where ingest_time is null or ingest_time = (select applied_at from noetl.cp_migration where version = 1);

-- For writers that name none: the moment of the INSERT. now() would be the beginning of their transaction, long before.
alter table noetl.event
  alter column ingest_time set default clock_timestamp(),
  alter column ingest_time set not null;
