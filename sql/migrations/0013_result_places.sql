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
