-- name: subscription_fence_hold(subscription_id)
-- The epoch that may start executions of subscription `subscription_id`; nobody changes it before this transaction ends.
select epoch from noetl.subscription_fence where subscription_id = :subscription_id::bigint for share;

-- name: subscription_fence_raise(subscription_id, epoch)
-- From here on `epoch` counts for subscription `subscription_id`, unless a later one does. Waits for starts under the
-- one before.
insert into noetl.subscription_fence as f (subscription_id, epoch) values (:subscription_id::bigint, :epoch::bigint)
on conflict (subscription_id) do update set epoch = excluded.epoch where f.epoch < excluded.epoch
returning epoch;

-- name: subscription_dedup_seen(scope, keys)
-- Which of the `keys` of subscription `scope` are held, and by which executions.
select dedup_key, execution_id from noetl.subscription_dedup
where subscription_id = :scope::bigint and dedup_key = any(:keys::text[]) and (expires_at is null or expires_at >= now());

-- name: subscription_dedup_claim(scope, keys, execution_ids, window_seconds)
-- Takes the `keys` of subscription `scope` for the executions `execution_ids`, each for `window_seconds`; answers those
-- that were free.
insert into noetl.subscription_dedup as held (subscription_id, dedup_key, execution_id, seen_at, expires_at)
select :scope::bigint, given.dedup_key, given.execution_id, now(), now() + make_interval(secs => given.seconds)
from unnest(:keys::text[], :execution_ids::bigint[], :window_seconds::double precision[]) as given (dedup_key, execution_id, seconds)
order by given.dedup_key
on conflict (subscription_id, dedup_key) do update
  set execution_id = excluded.execution_id, seen_at = excluded.seen_at, expires_at = excluded.expires_at
  where coalesce(held.expires_at, held.seen_at) < now()
returning dedup_key;

-- name: subscription_dead_insert(subscription_id, identity, subject, headers, body, reason, attempts)
-- Keeps a message of subscription `subscription_id` that was given up, as it came last: `identity`, `subject`,
-- `headers`, `body`, `reason`, `attempts`.
insert into noetl.subscription_dead_letter (subscription_id, identity, subject, headers, body, reason, attempts)
values (:subscription_id::bigint, :identity::text, :subject::text, :headers::jsonb, :body::bytea, :reason::text, :attempts::int)
on conflict (subscription_id, identity) do update
set subject = excluded.subject, headers = excluded.headers, body = excluded.body, reason = excluded.reason, attempts = excluded.attempts;

-- name: subscription_dead_list(subscription_id, after, limit_rows)
-- Given-up messages, oldest first: of subscription `subscription_id` (null: of all), `after`, at most `limit_rows`.
-- plan: each time
select dead_letter_id, subscription_id, identity, subject, headers, octet_length(body) as bytes, reason, attempts, created_at::text as created_at
from noetl.subscription_dead_letter
where (:subscription_id::bigint is null or subscription_id = :subscription_id) and dead_letter_id > :after::bigint
order by dead_letter_id limit :limit_rows::int;

-- name: subscription_dead_heads(dead_letter_ids, whole_max, head_bytes)
-- What can be shown of the given-up messages `dead_letter_ids`: up to `whole_max` bytes all of it, else the first `head_bytes`.
select dead_letter_id, octet_length(body) <= :whole_max::int as is_whole,
  case when octet_length(body) <= :whole_max::int then body else substring(body from 1 for :head_bytes::int) end as head
from noetl.subscription_dead_letter where dead_letter_id = any(:dead_letter_ids::bigint[]);

-- name: subscription_dead_get(dead_letter_id)
-- The given-up message `dead_letter_id`, with its body.
select dead_letter_id, subscription_id, identity, subject, headers, body, reason, attempts, created_at::text as created_at
from noetl.subscription_dead_letter where dead_letter_id = :dead_letter_id::bigint;

-- name: subscription_dead_drop(dead_letter_ids)
-- Forgets the given-up messages `dead_letter_ids`.
delete from noetl.subscription_dead_letter where dead_letter_id = any(:dead_letter_ids::bigint[])
returning dead_letter_id;

-- name: subscription_dead_delete(dead_letter_id)
delete from noetl.subscription_dead_letter where dead_letter_id = :dead_letter_id::bigint;

-- name: subscription_dead_count
select count(*)::int as count from noetl.subscription_dead_letter;

-- name: subscription_dead_by(looked_at_max, limit_rows)
-- Subscriptions with messages that were given up, those with the most first; looks at no more than `looked_at_max` messages.
select d.subscription_id, s.path, count(*)::int as count
from (select subscription_id from noetl.subscription_dead_letter limit :looked_at_max::int) as d
left join noetl.subscription s using (subscription_id)
group by d.subscription_id, s.path
order by count(*) desc, d.subscription_id
limit :limit_rows::int;
