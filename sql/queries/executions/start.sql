-- name: start_insert(
--   execution_ids, event_ids, created_ats, subjects, traces, contexts, metas, catalog_id, path, parent_execution_id,
--   tenant_id, organization_id, event_type, node_id, node_type, event_status, result, execution_status,
--   sealed_texts, engine
-- )
-- Executions that begin, each with its row, its first event and its outbox row. Per execution: ids `execution_ids`,
-- events `event_ids`, times `created_ats`, `subjects`, `traces`, `contexts` and `metas` (one JSON array each). For all
-- of them: catalog entry `catalog_id`, `path`, parent `parent_execution_id`, tenant `tenant_id`, organisation
-- `organization_id`, event type `event_type`, node id `node_id`, node type `node_type`, event status `event_status`,
-- `result`, execution status `execution_status`, `engine`. Sealed secrets `sealed_texts` per execution. The message is
-- put together here: its parts are read once, for the event.
with given as (
  select execution_id, event_id, at_text, subject, trace, sealed, context, meta, position
  from rows from (
    unnest(:execution_ids::bigint[], :event_ids::bigint[], :created_ats::text[], :subjects::text[], :traces::text[], :sealed_texts::text[]),
    jsonb_array_elements(:contexts::jsonb),
    jsonb_array_elements(:metas::jsonb)
  ) with ordinality as one (execution_id, event_id, at_text, subject, trace, sealed, context, meta, position)
),
executions as (
  insert into noetl.execution (
    execution_id, catalog_id, path, parent_execution_id, tenant_id, organization_id, status, stream_version, event_count,
    last_event_id, last_event_type, start_event_id, start_event_type, start_time, engine, labels
  )
  select execution_id, :catalog_id::bigint, :path::text, :parent_execution_id::bigint, :tenant_id::text, :organization_id::text, :execution_status::text, 1, 1,
    event_id, :event_type::text, event_id, :event_type::text, at_text::timestamptz, :engine::smallint, meta -> 'labels'
  from given
),
events as (
  insert into noetl.event (
    execution_id, event_id, catalog_id, parent_execution_id, created_at, event_time, ingest_time, event_type, node_id, node_name,
    node_type, status, context, result, meta, tenant_id, organization_id, stream_version, sealed
  )
  select execution_id, event_id, :catalog_id::bigint, :parent_execution_id::bigint, at_text::timestamptz at time zone 'utc', at_text::timestamptz,
    (select clock_timestamp()), :event_type::text, :node_id::text, :path::text, :node_type::text, :event_status::text, context, :result::jsonb, meta, :tenant_id::text, :organization_id::text, 1, sealed
  from given
)
insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, trace)
select execution_id, event_id, subject,
  jsonb_build_object(
    'event_id', event_id, 'execution_id', execution_id, 'catalog_id', :catalog_id::bigint, 'stream_version', 1,
    'tenant_id', :tenant_id::text, 'organization_id', :organization_id::text, 'event_type', :event_type::text, 'node_id', :node_id::text,
    'node_name', :path::text, 'node_type', :node_type::text, 'status', :event_status::text, 'timestamp', at_text,
    'context', context, 'result', :result::jsonb, 'meta', meta
  ) || case when :parent_execution_id::bigint is null then '{}' else jsonb_build_object('parent_execution_id', :parent_execution_id::bigint) end,
  'json', trace::jsonb
from given
order by position;
