-- Where the NoETL server keeps a result that is in neither table of results: `noetl.result_ref` of an adopted database knows
-- the place and not the data. Null when nobody knows the reference, or there is no such table.
create or replace function noetl.cp_result_place(of_ref text, out store_tier text, out physical_uri text)
language plpgsql stable as $$
begin
  if to_regclass('noetl.result_ref') is null then
    return;
  end if;
  execute 'select r.store_tier::text, r.physical_uri::text from noetl.result_ref r where r.ref = $1'
    into store_tier, physical_uri using of_ref;
end
$$;

-- Hands a result of ours to the NoETL server: into its table, which is made as it makes it where there is none.
create or replace function noetl.cp_hand_over_result(
  of_execution bigint, of_result bigint, of_name text, of_scope text, of_step text, of_data text, of_bytes bigint, of_sha256 text,
  of_created timestamptz, of_expires timestamptz
) returns void language plpgsql as $$
begin
  if to_regclass('noetl.result_store') is null then
    create table noetl.result_store (
      result_id bigint primary key, execution_id bigint not null, name text, scope text, source_step text, data jsonb, bytes bigint,
      sha256 text, media_type text default 'application/json', created_at timestamptz not null default now(), expires_at timestamptz
    );
    create index result_store_execution_name_idx on noetl.result_store (execution_id, name);
  end if;
  execute 'insert into noetl.result_store (result_id, execution_id, name, scope, source_step, data, bytes, sha256, created_at, expires_at)'
    || ' values ($2, $1, $3, $4, $5, $6::jsonb, $7, $8, $9, $10) on conflict (result_id) do nothing'
    using of_execution, of_result, of_name, of_scope, of_step, of_data, of_bytes, of_sha256, of_created, of_expires;
end
$$;
