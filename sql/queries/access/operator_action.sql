-- name: operator_action_begin(actor, role, via, action, target_kind, target_id, reason, request)
insert into noetl.operator_action (actor, role, via, action, target_kind, target_id, reason, request)
values (:actor::text, :role::text, :via::text, :action::text, :target_kind::text, :target_id::text, :reason::text, :request::jsonb)
returning id::text as id;

-- name: operator_action_end(id, outcome, error, target_kind, target_id)
-- `target_id`: what it was about, where that was not known before.
update noetl.operator_action
set outcome = :outcome::text, error = :error::text, finished_at = now(),
  target_kind = case when target_id is null then :target_kind::text else target_kind end, target_id = coalesce(target_id, :target_id::text)
where id = :id::bigint and outcome = 'intent';

-- name: operator_action_list(actor, action, target, since, before_id, limit_rows)
-- Newest first. An action also by its first words: `outbox` finds `outbox.redrive`; an actor also by the name that stands before a token.
-- plan: each time
select id::text as id, at::text as at, actor, role, via, action, target_kind, target_id, reason, request::text as request, outcome,
  error, finished_at::text as finished_at
from noetl.operator_action
where (:actor::text is null or actor = :actor::text or starts_with(actor, :actor::text || ' (token-'))
  and (:action::text is null or action = :action::text or starts_with(action, :action::text || '.'))
  and (:target::text is null or target_id = :target::text)
  and (:since::timestamptz is null or at >= :since::timestamptz)
  and (:before_id::bigint is null or id < :before_id::bigint)
order by operator_action.id desc
limit :limit_rows::int;

-- name: operator_action_purge(days, limit_rows)
delete from noetl.operator_action
where id in (
  select id from noetl.operator_action where at < now() - make_interval(days => :days::int) order by at limit :limit_rows::int
);
