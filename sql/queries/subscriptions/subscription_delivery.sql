-- name: subscription_fence_hold
-- The epoch that may start executions of subscription $1; nobody changes it before this transaction ends.
select epoch from noetl.subscription_fence where subscription_id = $1::bigint for share;

-- name: subscription_fence_raise
-- From here on epoch $2 counts for subscription $1, unless a later one does. Waits for starts under the one before.
insert into noetl.subscription_fence as f (subscription_id, epoch) values ($1::bigint, $2::bigint)
on conflict (subscription_id) do update set epoch = excluded.epoch where f.epoch < excluded.epoch
returning epoch;

-- name: subscription_dedup_seen
-- Which of the keys $2 of subscription $1 are held, and by which executions.
select dedup_key, execution_id from noetl.subscription_dedup
where subscription_id = $1::bigint and dedup_key = any($2::text[]) and (expires_at is null or expires_at >= now());

-- name: subscription_dedup_claim
-- Takes the keys $2 of subscription $1 for the executions $3, each for $4 seconds; answers those that were free.
insert into noetl.subscription_dedup as held (subscription_id, dedup_key, execution_id, seen_at, expires_at)
select $1::bigint, given.dedup_key, given.execution_id, now(), now() + make_interval(secs => given.seconds)
from unnest($2::text[], $3::bigint[], $4::double precision[]) as given (dedup_key, execution_id, seconds)
order by given.dedup_key
on conflict (subscription_id, dedup_key) do update
  set execution_id = excluded.execution_id, seen_at = excluded.seen_at, expires_at = excluded.expires_at
  where coalesce(held.expires_at, held.seen_at) < now()
returning dedup_key;

-- name: subscription_dead_insert
-- Keeps a message of subscription $1 that was given up, as it came last: identity $2, subject $3, headers $4, body $5, reason $6, attempts $7.
insert into noetl.subscription_dead_letter (subscription_id, identity, subject, headers, body, reason, attempts)
values ($1::bigint, $2::text, $3::text, $4::jsonb, $5::bytea, $6::text, $7::int)
on conflict (subscription_id, identity) do update
set subject = excluded.subject, headers = excluded.headers, body = excluded.body, reason = excluded.reason, attempts = excluded.attempts;

-- name: subscription_dead_list
-- Given-up messages, oldest first: of subscription $1 (null: of all), after $2, at most $3.
-- plan: each time
select dead_letter_id, subscription_id, identity, subject, headers, octet_length(body) as bytes, reason, attempts, created_at::text as created_at
from noetl.subscription_dead_letter
where ($1::bigint is null or subscription_id = $1) and dead_letter_id > $2::bigint
order by dead_letter_id limit $3::int;

-- name: subscription_dead_take
-- The given-up message $1, locked until it is started or put back.
select dead_letter_id, subscription_id, identity, subject, headers, body, reason, attempts, created_at::text as created_at
from noetl.subscription_dead_letter where dead_letter_id = $1::bigint for update;

-- name: subscription_dead_drop
-- Forgets the given-up messages $1; none that is being started at the moment.
delete from noetl.subscription_dead_letter
where dead_letter_id in (
  select dead_letter_id from noetl.subscription_dead_letter where dead_letter_id = any($1::bigint[]) for update skip locked
)
returning dead_letter_id;

-- name: subscription_dead_delete
delete from noetl.subscription_dead_letter where dead_letter_id = $1::bigint;

-- name: subscription_dead_count
select count(*)::int as count from noetl.subscription_dead_letter;

-- name: subscription_hold_state
-- The state and epoch of subscription $1, which nobody changes before this transaction ends.
select state, epoch, last_event_id, catalog_id from noetl.subscription where subscription_id = $1::bigint for share;
