-- What an act was about may be known only once it is done, such as the execution that it started: the end of a record may name it where
-- its beginning could not.
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
    or (old.reason, old.request) is distinct from (new.reason, new.request)
    or (old.target_id is not null and (old.target_kind, old.target_id) is distinct from (new.target_kind, new.target_id))
  then
    raise exception 'noetl.operator_action is a record and cannot be changed' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
