-- name: worker_pool_register
-- Notes pool $2 of kind $3 as alive under the new id $1, or under its old one where it is known. Address $4, status $5,
-- labels $6, capabilities $7, capacity $8, runtime $9. A pool that registers again has started again.
insert into noetl.runtime as r (runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat)
values ($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::jsonb, $7::jsonb, $8::int, $9::jsonb, now())
on conflict (kind, name) do update
  set uri = excluded.uri, status = excluded.status, labels = excluded.labels, capabilities = excluded.capabilities,
      capacity = excluded.capacity, runtime = excluded.runtime, heartbeat = now(), updated_at = now()
returning runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat::text as heartbeat,
  created_at::text as created_at, updated_at::text as updated_at, 0::float8 as silent_seconds;

-- name: worker_pool_beat
-- A sign of life of pool $2 of kind $3. One that is not known is noted under the new id $1.
insert into noetl.runtime as r (runtime_id, name, kind, status, heartbeat)
values ($1::bigint, $2::text, $3::text, 'ready', now())
on conflict (kind, name) do update set heartbeat = now(),
  status = case when r.status = 'offline' then 'ready' else r.status end;

-- name: worker_pool_leave
-- Pool $1 of kind $2 has ended in order.
update noetl.runtime set status = 'offline', updated_at = now() where name = $1::text and kind = $2::text;

-- name: worker_pool_list
-- Pools of kind $1 (null: any) with status $2 (null: any), by name, and for how long each was silent.
select runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat::text as heartbeat,
  created_at::text as created_at, updated_at::text as updated_at,
  extract(epoch from now() - heartbeat)::float8 as silent_seconds
from noetl.runtime
where kind = coalesce($1::text, kind) and status = coalesce($2::text, status)
order by name, kind
limit 1000;
