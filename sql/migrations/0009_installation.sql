-- The catalog, credentials, and what an installation knows of itself (cluster database).

alter table noetl.catalog
  add column if not exists archived_at timestamptz,
  add column if not exists content_digest text,
  -- A deleted entry is out of sight at once and leaves the table later: a start that had found it just before may commit
  -- just after, in another database. By then it is known whether anybody refers to it.
  add column if not exists remove_after timestamptz;
create index if not exists catalog_created_idx on noetl.catalog (created_at desc, catalog_id desc);
create index if not exists catalog_kind_idx on noetl.catalog (lower(kind), created_at desc, catalog_id desc);
create index if not exists catalog_remove_after_idx on noetl.catalog (remove_after) where remove_after is not null;

-- Credentials of tools, sealed with the installation's key. A table of our own: `noetl.credential`, where an adopted
-- database has one, belongs to the NoETL server and is never changed.
create table if not exists noetl.stored_credential (
  credential_id bigint primary key,
  name text not null unique,
  type text not null,
  sealed text not null,
  meta jsonb,
  tags jsonb not null default '[]',
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Which installation wrote a message: consumers of several streams tell their own from foreign ones.
create table if not exists noetl.cp_identity (
  only_row boolean primary key default true check (only_row),
  cluster_id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now()
);
insert into noetl.cp_identity default values on conflict do nothing;

-- The keys that have sealed something, by id: whoever lacks one of them cannot open everything.
create table if not exists noetl.seal_key (
  key_id text primary key,
  first_used_at timestamptz not null default now()
);

-- One row that health checks write, to know that a write is possible.
create table if not exists noetl.cp_write_probe (
  only_row boolean primary key default true check (only_row),
  probed_at timestamptz not null default now()
) with (fillfactor = 10);
insert into noetl.cp_write_probe default values on conflict do nothing;
