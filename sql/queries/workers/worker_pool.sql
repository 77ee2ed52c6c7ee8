-- name: worker_pool_register(runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime)
-- Notes pool `name` of `kind` as alive under the new id `runtime_id`, or under its old one where it is known. Address
-- `uri`, `status`, `labels`, `capabilities`, `capacity`, `runtime`. A pool that registers again has started again.
insert into noetl.runtime as r (runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat)
values (:runtime_id::bigint, :name::text, :kind::text, :uri::text, :status::text, :labels::jsonb, :capabilities::jsonb, :capacity::int, :runtime::jsonb, now())
on conflict (kind, name) do update
  set uri = excluded.uri, status = excluded.status, labels = excluded.labels, capabilities = excluded.capabilities,
      capacity = excluded.capacity, runtime = excluded.runtime, heartbeat = now(), updated_at = now()
returning runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat::text as heartbeat,
  created_at::text as created_at, updated_at::text as updated_at, 0::float8 as silent_seconds;

-- name: worker_pool_beat(runtime_id, name, kind)
-- A sign of life of pool `name` of `kind`. One that is not known is noted under the new id `runtime_id`, with 1970 as the time
-- of its registration: it may have claimed commands before, and this is no new start.
insert into noetl.runtime as r (runtime_id, name, kind, status, heartbeat, updated_at)
values (:runtime_id::bigint, :name::text, :kind::text, 'ready', now(), to_timestamp(0))
on conflict (kind, name) do update set heartbeat = now(),
  status = case when r.status = 'offline' then 'ready' else r.status end;

-- name: worker_pool_leave(name, kind)
-- Pool `name` of `kind` has ended in order.
update noetl.runtime set status = 'offline', updated_at = now() where name = :name::text and kind = :kind::text;

-- name: worker_pool_list(kind, status)
-- Pools of `kind` (null: any) with `status` (null: any), by name, and for how long each was silent.
select runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat::text as heartbeat,
  created_at::text as created_at, updated_at::text as updated_at,
  extract(epoch from now() - heartbeat)::float8 as silent_seconds
from noetl.runtime
where kind = coalesce(:kind::text, kind) and status = coalesce(:status::text, status)
order by name, kind
limit 1000;
