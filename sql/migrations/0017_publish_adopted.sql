-- Since when events that others write into the table are published by us; null: they are not. Here and not in a setting of
-- each process, because whoever adopts an event, daemon or command, must do the same with it.
alter table noetl.cp_identity add column if not exists publish_adopted_since timestamptz;
