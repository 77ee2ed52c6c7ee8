-- name: event_request_find(execution_id, idempotency_key)
-- The events that the request with the key `idempotency_key` stored in execution `execution_id`.
select to_json(event_ids::text[]) as event_ids from noetl.event_request
where execution_id = :execution_id::bigint and idempotency_key = :idempotency_key::text;

-- name: event_request_insert(execution_id, idempotency_key, event_ids)
-- The request with the key `idempotency_key` stored the events `event_ids` in execution `execution_id`. Fails if there was
-- one already.
insert into noetl.event_request (execution_id, idempotency_key, event_ids)
values (:execution_id::bigint, :idempotency_key::text, :event_ids::bigint[]);
