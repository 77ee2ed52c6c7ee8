-- Gives a database back to the NoETL server: everything of noetl-cp goes that the NoETL server does not know, and what was put
-- in its way. Tables, columns and rows of the NoETL server stay, the columns added to its tables with them: it ignores them.
-- Run by `noetl-cp schema remove`, in one transaction, after results were handed over.

-- Rows that a relay of ours holds can be claimed again at once.
update noetl.outbox set status = 'PENDING', locked_at = null where status = 'IN_FLIGHT';

-- An adoption later on numbers the log anew, from one; what the NoETL server has driven meanwhile is not ours to go on with.
update noetl.execution set stream_version = 0, engine = null where stream_version <> 0 or engine is not null;

drop view if exists noetl.relay_row;
drop function if exists noetl.held_slots(text, text, int[], bigint[]), noetl.cp_adopted_result(bigint, bigint),
  noetl.cp_result_place(text),
  noetl.cp_hand_over_result(bigint, bigint, text, text, text, text, bigint, text, timestamptz, timestamptz);
drop table if exists noetl.member, noetl.lease, noetl.projector_quarantine, noetl.decision_key, noetl.subscription,
  noetl.subscription_dead_letter, noetl.subscription_fence, noetl.subscription_news, noetl.command_limit, noetl.child,
  noetl.stored_credential, noetl.cp_identity, noetl.seal_key, noetl.cp_write_probe, noetl.event_request, noetl.stored_result,
  noetl.cp_schedule, noetl.cp_on_failure, noetl.failure_hook, noetl.operator_action, noetl.cp_migration;
drop sequence if exists noetl.outbox_lease_token;

-- The NoETL server writes rows without an execution as often as it likes.
drop index if exists noetl.outbox_event_without_execution_key;
-- Every write would keep these up for nobody. Those that are made with functions of ours go with them.
drop index if exists noetl.event_stream_version_idx, noetl.event_unadopted_idx, noetl.event_command_claim_idx,
  noetl.outbox_unsettled_idx, noetl.outbox_unsettled_execution_idx, noetl.outbox_dead_idx, noetl.outbox_dead_execution_idx,
  noetl.outbox_published_idx, noetl.command_queue_idx, noetl.command_lease_idx, noetl.command_deadline_idx, noetl.execution_failed_idx,
  noetl.execution_labels_idx, noetl.command_worker_idx;
drop function if exists noetl.lane_of(bigint), noetl.due_at(noetl.outbox), noetl.is_lifecycle(text),
  noetl.cp_operator_action_kept() cascade;
-- What its own publisher reads by.
create index if not exists idx_outbox_status_available on noetl.outbox (status, available_at, outbox_id)
  where status in ('PENDING', 'FAILED');
alter table noetl.outbox reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
