-- What retention needs to find the rows that hang on an execution without reading whole tables.

-- Snapshots carry the execution in their name: `<id>` and `execution/<id>/<projection>`.
create index if not exists projection_snapshot_aggregate_idx
  on noetl.projection_snapshot (aggregate_id text_pattern_ops);
create index if not exists projection_execution_idx
  on noetl.projection (execution_id) where execution_id is not null;
create index if not exists subscription_dedup_execution_idx
  on noetl.subscription_dedup (execution_id);

-- The purge of finished commands goes by their end.
create index if not exists command_completed_idx
  on noetl.command (completed_at) where completed_at is not null;
