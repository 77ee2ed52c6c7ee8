-- name: catalog_lock_path
-- One registration per path at a time, until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('noetl.catalog:' || $1::text, 0));

-- name: catalog_newest
-- The newest version of path $1 whatever its state, for numbering.
select catalog_id, version, content, content_digest, kind, archived_at::text as archived_at
from noetl.catalog where path = $1::text order by version desc limit 1;

-- name: catalog_insert
insert into noetl.catalog (catalog_id, path, version, kind, content, layout, payload, meta, content_digest, created_at)
values ($1::bigint, $2::text, $3::int, $4::text, $5::text, $6::jsonb, $7::jsonb, $8::jsonb, $9::text, now() at time zone 'utc');

-- name: catalog_get
-- Entry by id $1, or by path $2 and version $3 (null: the newest that is not archived).
-- plan: each time
select catalog_id, path, version, kind, content, layout::text as layout, payload::text as payload, meta::text as meta,
  created_at::text as created_at, archived_at::text as archived_at
from noetl.catalog
where remove_after is null
  and (
    ($1::bigint is not null and catalog_id = $1::bigint)
    or ($1::bigint is null and path = $2::text and (version = $3::int or ($3::int is null and archived_at is null)))
  )
order by version desc
limit 1;

-- name: catalog_list
-- Entries newest first: kind $1 (lower case), archived ones too if $2, after the position ($3 created_at, $4 id), at most $5,
-- with their documents if $6. Ends early when the documents reach $7 bytes; `found` is how many there were without that.
-- plan: each time
with found as (
  select catalog_id, path, version, kind, created_at, archived_at, meta,
    case when $6::boolean then content end as content,
    case when $6::boolean then layout end as layout,
    case when $6::boolean then payload end as payload
  from noetl.catalog
  where remove_after is null
    and ($1::text is null or lower(kind) = $1)
    and ($2::boolean or archived_at is null)
    and ($3::timestamp is null or (created_at, catalog_id) < ($3::timestamp, $4::bigint))
  order by created_at desc, catalog_id desc
  limit $5::int
),
sized as (
  select *, coalesce(octet_length(content), 0) + coalesce(pg_column_size(layout), 0) + coalesce(pg_column_size(payload), 0)
    + coalesce(pg_column_size(meta), 0) as bytes
  from found
),
summed as (
  select *, count(*) over () as found,
    sum(bytes) over (order by created_at desc, catalog_id desc rows unbounded preceding) - bytes as bytes_before
  from sized
)
select catalog_id, path, version, kind, content, layout::text as layout, payload::text as payload, meta::text as meta,
  created_at::text as created_at, archived_at::text as archived_at, found::int as found
from summed
where bytes_before < $7::bigint
order by summed.created_at desc, catalog_id desc;

-- name: catalog_versions
-- Ids and versions of path $1, or of its version $2; archived ones only if $3 is true, live ones only if false.
select catalog_id, version
from noetl.catalog
where path = $1::text and remove_after is null and ($2::int is null or version = $2) and (archived_at is not null) = $3::boolean
order by version desc;

-- name: catalog_referenced
-- Which of the entries $1 some execution was started from.
select distinct catalog_id from noetl.execution where catalog_id = any($1::bigint[]);

-- name: catalog_hide
-- Takes the entries $1 out of sight; they may leave the table after $2 seconds.
update noetl.catalog set archived_at = now(), remove_after = now() + make_interval(secs => $2::double precision)
where catalog_id = any($1::bigint[]);

-- name: catalog_removable
-- Hidden entries whose time is over, at most $1.
select catalog_id from noetl.catalog where remove_after < now() order by remove_after limit $1::int;

-- name: catalog_keep
-- Somebody refers to the hidden entries $1 after all: they stay, archived.
update noetl.catalog set remove_after = null where catalog_id = any($1::bigint[]);

-- name: catalog_remove
delete from noetl.catalog where catalog_id = any($1::bigint[]) and remove_after < now();

-- name: catalog_archive
-- Archives ($2 true) or restores the entries $1.
update noetl.catalog set archived_at = case when $2::boolean then now() end where catalog_id = any($1::bigint[]);

