-- name: credential_any
-- Whether credentials are kept here. The table is another's and may be missing, so it is judged from outside: a table
-- that ever took a row has pages. One that was emptied counts until it is vacuumed, which errs on the safe side.
select coalesce(
  (select pg_relation_size(relation.oid) > 0
   from pg_class as relation
   where relation.oid = to_regclass('noetl.credential')),
  false) as found;
