-- Lanes of the outbox are leases of kind `outbox`; who held one and when it was last alive goes with it.
insert into noetl.lease (kind, slot, owner, token, lease_until, renewed_at)
select 'outbox', lane, owner, token, lease_until, renewed_at from noetl.outbox_lane
on conflict (kind, slot) do nothing;
drop table noetl.outbox_lane, noetl.outbox_relay;

-- Which of the slots that `owner` believes to hold, with these tokens, it does hold: one bit each, for slots below 64.
create or replace function noetl.held_slots(wanted_kind text, wanted_owner text, slots int[], tokens bigint[]) returns bigint
  language sql stable parallel safe
  return (
    select bit_or(1::bigint << l.slot)
    from noetl.lease l join unnest(slots, tokens) as mine (slot, token) on l.slot = mine.slot and l.token = mine.token
    where l.kind = wanted_kind and l.owner = wanted_owner and l.lease_until > now()
  );
