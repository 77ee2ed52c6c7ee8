-- name: partition_list
-- The partitions of the event table with their bounds and an estimate of their rows (-1: never analysed).
select
  c.relname as name,
  pg_get_expr(c.relpartbound, c.oid) as bound,
  c.relkind = 'r' as is_table,
  c.relnamespace = 'noetl'::regnamespace as is_ours,
  c.reltuples::bigint as rows_estimate
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'noetl.event'::regclass
order by c.relname;

-- name: partition_now
-- The clock of the database in milliseconds since 1970.
select floor(extract(epoch from clock_timestamp()) * 1000)::text as now_ms;

-- name: partition_lock
-- One process at a time changes the partitions of this database; held until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('noetl.event partitions', 0));

-- name: partition_lock_timeout(timeout_ms)
-- Waits at most `timeout_ms` milliseconds for a lock in this transaction: whoever queues behind us waits as long.
select set_config('lock_timeout', :timeout_ms::text, true);

-- name: partition_default_holds(from_id, to_id)
-- Whether the default partition holds rows of the ids from `from_id` up to `to_id`.
select exists (
  select 1 from noetl.event_default where execution_id >= :from_id::bigint and execution_id < :to_id::bigint
) as holds;

-- name: partition_default_any
-- Whether the default partition holds anything, and the first execution of it.
select execution_id from noetl.event_default order by execution_id limit 1;
