-- A deleted catalog entry is out of sight at once and leaves the table later: a start that had found it just before
-- may commit just after, in another database. By then it is known whether anybody refers to it.
alter table noetl.catalog add column if not exists remove_after timestamptz;
create index if not exists catalog_remove_after_idx on noetl.catalog (remove_after) where remove_after is not null;
