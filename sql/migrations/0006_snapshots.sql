-- Snapshots of replay and of live states: the state as it was written, beside the summary that stays readable in SQL.
-- jsonb rewrites numbers and reorders keys; checksums are over what is in the bytes.

alter table noetl.projection_snapshot
  add column if not exists snapshot_bytes bytea,
  -- `json+gzip`: the state document as UTF-8 JSON, compressed. Null: the state is in `snapshot`.
  add column if not exists snapshot_codec text;
-- Compressed already.
alter table noetl.projection_snapshot alter column snapshot_bytes set storage external;

-- For retention: snapshots carry the execution in their name: `<id>` and `execution/<id>/<projection>`.
create index if not exists projection_snapshot_aggregate_idx
  on noetl.projection_snapshot (aggregate_id text_pattern_ops);
create index if not exists projection_execution_idx
  on noetl.projection (execution_id) where execution_id is not null;
