-- One row that health checks write, to know that a write is possible.
create table if not exists noetl.cp_write_probe (
  only_row boolean primary key default true check (only_row),
  probed_at timestamptz not null default now()
) with (fillfactor = 10);
insert into noetl.cp_write_probe default values on conflict do nothing;
