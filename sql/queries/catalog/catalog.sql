-- name: catalog_lock_path(path)
-- One registration per path at a time, until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('noetl.catalog:' || :path::text, 0));

-- name: catalog_newest(path)
-- The newest version of `path` whatever its state, for numbering.
select catalog_id, version, content, content_digest, kind, archived_at::text as archived_at
from noetl.catalog where path = :path::text order by version desc limit 1;

-- name: catalog_insert(catalog_id, path, version, kind, content, layout, payload, meta, digest)
insert into noetl.catalog (catalog_id, path, version, kind, content, layout, payload, meta, content_digest, created_at)
values (:catalog_id::bigint, :path::text, :version::int, :kind::text, :content::text, :layout::jsonb, :payload::jsonb, :meta::jsonb, :digest::text, now() at time zone 'utc');

-- name: catalog_get(catalog_id, path, version)
-- Entry by id `catalog_id`, or by `path` and `version` (null: the newest that is not archived).
-- plan: each time
select catalog_id, path, version, kind, content, layout::text as layout, payload::text as payload, meta::text as meta,
  created_at::text as created_at, archived_at::text as archived_at
from noetl.catalog
where remove_after is null
  and (
    (:catalog_id::bigint is not null and catalog_id = :catalog_id::bigint)
    or (:catalog_id::bigint is null and path = :path::text and (version = :version::int or (:version::int is null and archived_at is null)))
  )
order by version desc
limit 1;

-- name: catalog_path(catalog_id)
-- The path of entry `catalog_id`, archived or not.
select path from noetl.catalog where catalog_id = :catalog_id::bigint;

-- name: catalog_names(catalog_ids)
-- Paths and versions of the entries `catalog_ids`, archived or not.
select catalog_id, path, version from noetl.catalog where catalog_id = any(:catalog_ids::bigint[]);

-- name: catalog_ids(path)
-- Every version of `path`, archived or not.
select catalog_id from noetl.catalog where path = :path::text;

-- name: catalog_counts
-- How many paths there are of each kind, without those that are archived.
select lower(kind) as kind, count(distinct path)::int as count from noetl.catalog
where remove_after is null and archived_at is null
group by 1;

-- name: catalog_list(kind, path, include_archived, newest_only, created_at, catalog_id, limit_rows, include_content, bytes_max)
-- Entries newest first: `kind` (lower case), versions of one `path`, archived ones too if `include_archived`, of each path the newest alone
-- and how many there are if `newest_only`, after the position (`created_at` created_at, `catalog_id` id), at most `limit_rows`, with their
-- documents if `include_content`. Ends early when the documents reach `bytes_max` bytes; `found` is how many there were without that.
-- plan: each time
with found as (
  select catalog_id, path, version, kind, created_at, archived_at, meta,
    case when :include_content::boolean then content end as content,
    case when :include_content::boolean then layout end as layout,
    case when :include_content::boolean then payload end as payload
  from noetl.catalog
  where remove_after is null
    and (:kind::text is null or lower(kind) = :kind)
    and (:path::text is null or path = :path)
    and (:include_archived::boolean or archived_at is null)
    and (not :newest_only::boolean or (path, version) in (
      select path, max(version) from noetl.catalog
      where remove_after is null and (:include_archived::boolean or archived_at is null)
      group by path
    ))
    and (:created_at::timestamp is null or (created_at, catalog_id) < (:created_at::timestamp, :catalog_id::bigint))
  order by created_at desc, catalog_id desc
  limit :limit_rows::int
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
  created_at::text as created_at, archived_at::text as archived_at, found::int as found,
  case when :newest_only::boolean then (
    select count(*)::int from noetl.catalog every
    where every.path = summed.path and every.remove_after is null and (:include_archived::boolean or every.archived_at is null)
  ) end as versions
from summed
where bytes_before < :bytes_max::bigint
order by summed.created_at desc, catalog_id desc;

-- name: catalog_versions(path, version, archived)
-- Ids and versions of `path`, or of its `version`; archived ones only if `archived` is true, live ones only if false.
select catalog_id, version
from noetl.catalog
where path = :path::text and remove_after is null and (:version::int is null or version = :version) and (archived_at is not null) = :archived::boolean
order by version desc;

-- name: catalog_referenced(catalog_ids)
-- Which of the entries `catalog_ids` some execution was started from.
select distinct catalog_id from noetl.execution where catalog_id = any(:catalog_ids::bigint[]);

-- name: catalog_hide(catalog_ids, seconds)
-- Takes the entries `catalog_ids` out of sight; they may leave the table after `seconds`.
update noetl.catalog set archived_at = now(), remove_after = now() + make_interval(secs => :seconds::double precision)
where catalog_id = any(:catalog_ids::bigint[]);

-- name: catalog_removable(limit_rows)
-- Hidden entries whose time is over, at most `limit_rows`.
select catalog_id from noetl.catalog where remove_after < now() order by remove_after limit :limit_rows::int;

-- name: catalog_keep(catalog_ids)
-- Somebody refers to the hidden entries `catalog_ids` after all: they stay, archived.
update noetl.catalog set remove_after = null where catalog_id = any(:catalog_ids::bigint[]);

-- name: catalog_remove(catalog_ids)
delete from noetl.catalog where catalog_id = any(:catalog_ids::bigint[]) and remove_after < now();

-- name: catalog_archive(catalog_ids, archived)
-- Archives (`archived` true) or restores the entries `catalog_ids`.
update noetl.catalog set archived_at = case when :archived::boolean then now() end where catalog_id = any(:catalog_ids::bigint[]);

-- name: catalog_mentioning(path, limit_rows)
-- Documents in force in whose text, or among whose workflow's values, `path` or the id of one of its versions occurs, by path, at
-- most `limit_rows`. In force is the version that a live subscription has, else the newest that is not archived.
with in_force as (
  select distinct on (c.path) c.catalog_id, s.subscription_id, s.state
  from noetl.catalog c left join noetl.subscription s on s.path = c.path and s.live
  where c.remove_after is null and lower(c.kind) in ('playbook', 'subscription')
    and (c.catalog_id = s.catalog_id or (s.subscription_id is null and c.archived_at is null))
  order by c.path, c.version desc
)
select c.catalog_id, c.path, c.version, lower(c.kind) as kind, f.subscription_id, f.state
from in_force f join noetl.catalog c on c.catalog_id = f.catalog_id
where strpos(c.content, :path::text) > 0
  or jsonb_path_exists(c.layout, 'lax $.** ? (@ == $path)', jsonb_build_object('path', :path::text))
  or exists (select from noetl.catalog own where own.path = :path::text and strpos(c.content, own.catalog_id::text) > 0)
order by c.path
limit :limit_rows::int;
