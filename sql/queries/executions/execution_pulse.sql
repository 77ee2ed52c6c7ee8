-- name: execution_pulses(execution_ids)
-- How far the executions `execution_ids` are.
select execution_id, stream_version, status, last_node_name, path from noetl.execution
where execution_id = any(:execution_ids::bigint[]);

-- name: execution_pulses_newest(limit_rows)
-- How far the newest executions are, at most `limit_rows`.
select execution_id, stream_version, status, last_node_name, path from noetl.execution
where coalesce(start_event_type, '') not in ('subscription.registered', 'subscription_registered')
order by coalesce(start_time, created_at) desc, execution_id desc
limit :limit_rows::int;
