-- Dead rows by execution: an execution that is held behind one is looked at every few seconds, and must not cost a
-- walk over its published rows or over everybody's dead ones.
create index if not exists outbox_dead_execution_idx
  on noetl.outbox (execution_id, outbox_id) where status = 'DEAD';
