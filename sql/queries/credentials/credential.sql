-- name: credential_any
-- Whether credentials are kept here: in our table, or in one of the NoETL server, which may be missing and is judged from
-- outside: a table that ever took a row has pages. One that was emptied counts until it is vacuumed, which errs on the
-- safe side.
select exists (select from noetl.stored_credential) or coalesce(
  (select pg_relation_size(relation.oid) > 0
   from pg_class as relation
   where relation.oid = to_regclass('noetl.credential')),
  false) as found;

-- name: credential_put(credential_id, name, type, sealed, meta, tags, description)
-- Stores credential `name` of `type`, sealed as `sealed`, under the new id `credential_id` or, where the name is known,
-- its old one. Meta `meta`, `tags`, `description`.
insert into noetl.stored_credential as c (credential_id, name, type, sealed, meta, tags, description)
values (:credential_id::bigint, :name::text, :type::text, :sealed::text, :meta::jsonb, :tags::jsonb, :description::text)
on conflict (name) do update
  set type = excluded.type, sealed = excluded.sealed, meta = excluded.meta, tags = excluded.tags,
      description = excluded.description, updated_at = now()
returning credential_id, name, type, meta, tags, description, created_at::text as created_at, updated_at::text as updated_at;

-- name: credential_list(type, after, limit_rows)
-- Every credential of `type` (null: any) after the name `after`, at most `limit_rows`, without its values.
select credential_id, name, type, meta, tags, description, created_at::text as created_at, updated_at::text as updated_at
from noetl.stored_credential
where type = coalesce(:type::text, type) and name > :after::text
order by name
limit :limit_rows::int;

-- name: credential_get(name_or_id)
-- Credential `name_or_id`, by name or by id, sealed as it is stored.
select credential_id, name, type, sealed, meta, tags, description, created_at::text as created_at, updated_at::text as updated_at
from noetl.stored_credential
where name = :name_or_id::text or credential_id::text = :name_or_id::text
order by name = :name_or_id::text desc
limit 1;

-- name: credential_delete(name)
delete from noetl.stored_credential where name = :name::text;

-- name: credential_reseal(credential_id, before, after)
-- Seals credential `credential_id` anew as `after`, unless it was stored again since it was read as `before`.
update noetl.stored_credential set sealed = :after::text where credential_id = :credential_id::bigint and sealed = :before::text;
