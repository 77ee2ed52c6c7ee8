-- What people did by console, API or command line (cluster database). A row is written before the act, as `intent`, and completed
-- after it: done, refused or failed. An intent that stays says that nobody knows how the act ended.
create table if not exists noetl.operator_action (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  role text not null,
  via text not null check (via in ('console', 'api', 'cli')),
  action text not null,
  target_kind text,
  target_id text,
  reason text,
  request jsonb,
  outcome text not null default 'intent' check (outcome in ('intent', 'done', 'refused', 'failed')),
  error text,
  finished_at timestamptz
);
create index if not exists operator_action_at_idx on noetl.operator_action (at);
create index if not exists operator_action_target_idx on noetl.operator_action (target_id, id);

-- Nothing is changed but an intent into its outcome, once; nothing of the last 30 days is removed.
create or replace function noetl.cp_operator_action_kept() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.at > now() - interval '30 days' then
      raise exception 'noetl.operator_action keeps the last 30 days' using errcode = 'restrict_violation';
    end if;
    return old;
  end if;
  if old.outcome <> 'intent' or new.outcome = 'intent'
    or (old.id, old.at, old.actor, old.role, old.via, old.action) is distinct from (new.id, new.at, new.actor, new.role, new.via, new.action)
    or (old.target_kind, old.target_id, old.reason, old.request) is distinct from (new.target_kind, new.target_id, new.reason, new.request)
  then
    raise exception 'noetl.operator_action is a record and cannot be changed' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create or replace trigger operator_action_kept before update or delete on noetl.operator_action
  for each row execute function noetl.cp_operator_action_kept();
