-- Results that are too large for an event, beside the execution they belong to. A table of our own: `noetl.result_store`, where
-- an adopted database has one, belongs to the NoETL server; it is read and never changed.
create table if not exists noetl.stored_result (
  execution_id bigint not null,
  result_id bigint not null,
  name text not null,
  scope text not null,
  source_step text,
  -- Compressed JSON; sealed if there are secrets in it.
  data bytea not null,
  is_sealed boolean not null default false,
  -- Of the JSON text.
  bytes bigint not null,
  sha256 text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (execution_id, result_id)
);
alter table noetl.stored_result alter column data set storage external;
create index if not exists stored_result_expiry_idx on noetl.stored_result (expires_at) where expires_at is not null;

-- The data of a result of the NoETL server as JSON text; null when there is none, or no such table.
create or replace function noetl.cp_adopted_result(of_execution bigint, of_result bigint) returns text
language plpgsql stable as $$
declare
  found text;
begin
  if to_regclass('noetl.result_store') is null then
    return null;
  end if;
  execute 'select data::text from noetl.result_store where result_id::text = $2::text and execution_id = $1'
    || ' and (expires_at is null or expires_at > now())'
    into found using of_execution, of_result;
  return found;
end
$$;
