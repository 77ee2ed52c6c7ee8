-- Requests with an Idempotency-Key: which events the first one with that key stored. Lives as long as its execution.
create table if not exists noetl.event_request (
  execution_id bigint not null,
  idempotency_key text not null,
  event_ids bigint[] not null,
  created_at timestamptz not null default now(),
  primary key (execution_id, idempotency_key)
);

-- Executions of others whose start event does not say their path: the catalog does.
update noetl.execution x set path = c.path
from noetl.catalog c
where x.path is null and c.catalog_id = x.catalog_id;
