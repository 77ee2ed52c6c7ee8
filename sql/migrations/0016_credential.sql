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
