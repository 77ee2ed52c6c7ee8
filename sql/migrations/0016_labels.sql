-- Labels of executions, as their start events give them, and what searches by label and by worker go by. An execution that was
-- started before has none.
alter table noetl.execution add column if not exists labels jsonb;
create index if not exists execution_labels_idx on noetl.execution using gin (labels jsonb_path_ops) where labels is not null;
create index if not exists command_worker_idx on noetl.command (worker_id, execution_id) where worker_id is not null;
