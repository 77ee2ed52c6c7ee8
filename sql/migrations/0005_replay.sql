-- Replay seeds: the state as it was written, beside the summary that stays readable in SQL. jsonb rewrites
-- numbers and reorders keys; checksums are over what is in the bytes.

alter table noetl.projection_snapshot
  add column if not exists snapshot_bytes bytea,
  -- `json+gzip`: the state document as UTF-8 JSON, compressed. Null: the state is in `snapshot`.
  add column if not exists snapshot_codec text;
-- Compressed already.
alter table noetl.projection_snapshot alter column snapshot_bytes set storage external;
