-- name: state_tails(execution_ids, after_versions, limit_rows)
-- plan: by key
-- Each of the executions `execution_ids`, and the first `limit_rows` of its events numbered after the version in the same
-- place of `after_versions`, in the order of their numbers. `head` is the last number given out, `unadopted` whether rows of
-- others wait for a number, `mark` the event that the version is the number of. Many events travel as one value of about
-- 256 kB, four lines each: for a driver, values and rows cost more than their bytes. JSON never holds a line break.
select
  given.execution_id, x.stream_version as head, x.status as execution_status, x.tenant_id, x.organization_id, x.engine,
  exists (select 1 from noetl.event u where u.execution_id = given.execution_id and u.stream_version is null) as unadopted,
  (select m.event_id from noetl.event m where m.execution_id = given.execution_id and m.stream_version = given.after_version limit 1) as mark,
  e.lines
from unnest(:execution_ids::bigint[], :after_versions::bigint[]) as given (execution_id, after_version)
join noetl.execution x on x.execution_id = given.execution_id
left join lateral (
  select part, string_agg(line, e'\n' order by stream_version) as lines
  from (
    select stream_version, line,
      (sum(octet_length(line)) over (order by stream_version rows unbounded preceding)) / 262144 as part
    from (
      select stream_version,
        concat(
          json_build_array(
            stream_version, event_id::text, catalog_id::text, parent_execution_id::text, event_type, node_name, worker_id,
            error, created_at::text, sealed
          ),
          e'\n', context, e'\n', result, e'\n', meta
        ) as line
      from noetl.event
      where execution_id = given.execution_id and stream_version > given.after_version
      order by stream_version
      limit :limit_rows::int
    ) as listed
  ) as parted
  group by part
) e on true
order by e.part;

-- name: state_has_sealed(execution_id)
-- Whether events of the execution have sealed values.
select exists (select 1 from noetl.event where execution_id = :execution_id::bigint and sealed is not null) as found;

-- name: state_heads(execution_ids)
-- Where the executions `execution_ids` stand; a log of a subscription is none.
select execution_id, stream_version, status from noetl.execution
where execution_id = any(:execution_ids::bigint[])
  and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered');

-- name: state_active(after, limit_rows)
-- Executions that have not ended, `after` in id order, at most `limit_rows`.
select execution_id, stream_version from noetl.execution
where status not in (:TERMINAL_STATUSES) and execution_id > :after::bigint
  and coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
order by execution_id
limit :limit_rows::int;

-- name: state_digest_ids(execution_id, after, up_to, limit_rows)
-- The ids of the events of execution `execution_id` with numbers `after` up to `up_to`, at most `limit_rows`, in that
-- order.
select event_id, stream_version from noetl.event
where execution_id = :execution_id::bigint and stream_version > :after::bigint and stream_version <= :up_to::bigint
order by stream_version
limit :limit_rows::int;

-- name: decision_reserve(execution_ids, keys, versions)
-- Writes the decisions `keys` of the executions `execution_ids`, made on the `versions`; answers those that were not
-- made before.
insert into noetl.decision_key (execution_id, key, version)
select execution_id, key, version
from unnest(:execution_ids::bigint[], :keys::text[], :versions::bigint[]) as given (execution_id, key, version)
order by execution_id, key
on conflict do nothing
returning execution_id, key;

-- name: decision_follow(kind, owner, slots, tokens, execution_ids, keys, versions)
-- Writes the decisions `keys` of the executions `execution_ids`, made on the `versions`, each while `owner` holds its slot (`slots`,
-- `tokens`) of `kind`. All of them or an error: one that was made before is there twice, and one without its lease has no version.
with held as (
  select l.slot, l.token from noetl.lease l
  where l.kind = :kind::text and l.slot = any(:slots::int[]) and l.owner = :owner::text and l.lease_until > now()
  order by l.slot
  for key share of l
)
insert into noetl.decision_key (execution_id, key, version)
select given.execution_id, given.key, case when held.slot is not null then given.version end
from unnest(:slots::int[], :tokens::bigint[], :execution_ids::bigint[], :keys::text[], :versions::bigint[])
  as given (slot, token, execution_id, key, version)
left join held on held.slot = given.slot and held.token = given.token
order by given.execution_id, given.key;

-- name: decision_release(execution_ids, keys)
-- Takes the decisions `keys` of the executions `execution_ids` back: they were not written after all.
delete from noetl.decision_key d
using unnest(:execution_ids::bigint[], :keys::text[]) as given (execution_id, key)
where d.execution_id = given.execution_id and d.key = given.key;

-- name: decision_forget(execution_id)
-- Decisions of execution `execution_id` once it has ended: it gets no further ones.
delete from noetl.decision_key where execution_id = :execution_id::bigint;

-- name: state_notify(payload)
-- Tells the other daemons that the executions named in `payload` have news.
select pg_notify('noetl_state', :payload::text);
