-- name: credential_any
-- Whether credentials are kept here: in our table, or in one of the NoETL server, which may be missing and is judged from
-- outside: a table that ever took a row has pages. One that was emptied counts until it is vacuumed, which errs on the
-- safe side.
select exists (select from noetl.stored_credential) or coalesce(
  (select pg_relation_size(relation.oid) > 0
   from pg_class as relation
   where relation.oid = to_regclass('noetl.credential')),
  false) as found;

-- name: credential_put
-- Stores credential $2 of type $3, sealed as $4, under the new id $1 or, where the name is known, its old one. Meta $5,
-- tags $6, description $7.
insert into noetl.stored_credential as c (credential_id, name, type, sealed, meta, tags, description)
values ($1::bigint, $2::text, $3::text, $4::text, $5::jsonb, $6::jsonb, $7::text)
on conflict (name) do update
  set type = excluded.type, sealed = excluded.sealed, meta = excluded.meta, tags = excluded.tags,
      description = excluded.description, updated_at = now()
returning credential_id, name, type, meta, tags, description, created_at::text as created_at, updated_at::text as updated_at;

-- name: credential_list
-- Every credential of type $1 (null: any) after the name $2, at most $3, without its values.
select credential_id, name, type, meta, tags, description, created_at::text as created_at, updated_at::text as updated_at
from noetl.stored_credential
where type = coalesce($1::text, type) and name > $2::text
order by name
limit $3::int;

-- name: credential_get
-- Credential $1, by name or by id, sealed as it is stored.
select credential_id, name, type, sealed, meta, tags, description, created_at::text as created_at, updated_at::text as updated_at
from noetl.stored_credential
where name = $1::text or credential_id::text = $1::text
order by name = $1::text desc
limit 1;

-- name: credential_delete
delete from noetl.stored_credential where name = $1::text;

-- name: credential_reseal
-- Seals credential $1 anew as $3, unless it was stored again since it was read as $2.
update noetl.stored_credential set sealed = $3::text where credential_id = $1::bigint and sealed = $2::text;
