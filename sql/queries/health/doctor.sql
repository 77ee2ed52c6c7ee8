-- name: doctor_columns
-- Columns of every table in schema noetl that is not itself a partition.
select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, a.atttypmod) as type
from pg_class c
join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'noetl'::regnamespace
  and c.relkind in ('r', 'p')
  and not c.relispartition
  and a.attnum > 0
  and not a.attisdropped
order by c.relname, a.attnum;

-- name: doctor_indexes
-- Indexes of those tables, and whether Postgres can use them.
select t.relname as table_name, i.relname as index_name, pg_get_indexdef(i.oid) as definition, x.indisvalid as valid
from pg_index x
join pg_class i on i.oid = x.indexrelid
join pg_class t on t.oid = x.indrelid
where t.relnamespace = 'noetl'::regnamespace and not t.relispartition
order by t.relname, i.relname;

-- name: doctor_dead_tuples(dead_min, percent_min)
-- Tables with many dead rows: at least `dead_min` of them, and at least `percent_min` percent of the table.
select relname as table_name, n_live_tup::text as live, n_dead_tup::text as dead, last_autovacuum::text as last_autovacuum
from pg_stat_user_tables
where schemaname = 'noetl'
  and n_dead_tup >= :dead_min::bigint
  and n_dead_tup * 100 >= (n_live_tup + n_dead_tup) * :percent_min::bigint
order by n_dead_tup desc
limit 20;

-- name: doctor_old_transactions(older_than_seconds)
-- Transactions open for more than `older_than_seconds`; they hold back vacuum and every reader behind them.
select pid, usename, application_name, state, extract(epoch from now() - xact_start)::int as seconds, left(query, 120) as query
from pg_stat_activity
where datname = current_database()
  and pid <> pg_backend_pid()
  and backend_type = 'client backend'
  and xact_start < now() - make_interval(secs => :older_than_seconds::double precision)
order by xact_start
limit 20;

-- name: doctor_settings
-- Server settings that decide durability and capacity.
select name, setting
from pg_settings
where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'max_connections', 'server_version', 'autovacuum')
order by name;

-- name: doctor_tables
-- The tables of our schema, without partitions.
select relname as name from pg_class
where relnamespace = 'noetl'::regnamespace and relkind in ('r', 'p') and not relispartition
order by relname;
