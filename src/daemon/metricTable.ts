// Every metric this program exports. Add a row here; the series then exists at zero from the start.
import type { MetricRow } from '../runtime/metrics.js'

export const METRICS = {
  noetl_cp_build_info: { kind: 'gauge', help: 'Always 1; the labels name the version.', labels: { version: [] } },
  noetl_cp_dependency_up: {
    kind: 'gauge',
    help: '1 while the dependency answers its health check, else 0.',
    labels: { dependency: [] },
  },
  noetl_cp_db_queries_total: {
    kind: 'counter',
    help: 'Database calls by outcome.',
    labels: { outcome: ['ok', 'error', 'timeout', 'unavailable'] },
  },
  noetl_cp_db_query_seconds: { kind: 'histogram', help: 'Time of database calls.' },
  noetl_cp_db_connections: { kind: 'gauge', help: 'Open connections.', labels: { database: [] } },
  noetl_cp_db_connections_in_use: { kind: 'gauge', help: 'Connections running something.', labels: { database: [] } },
  noetl_cp_db_waiting: { kind: 'gauge', help: 'Calls waiting for a connection.', labels: { database: [] } },
  noetl_cp_db_connections_discarded_total: {
    kind: 'counter',
    help: 'Connections thrown away because they broke or a deadline passed.',
  },
  noetl_cp_nats_reconnects_total: { kind: 'counter', help: 'Times the NATS link was lost and found again.' },
  noetl_cp_worker_tasks_total: {
    kind: 'counter',
    help: 'Worker-thread tasks by outcome.',
    labels: { task: [], outcome: ['ok', 'failed', 'timeout', 'crashed', 'overloaded'] },
  },
  noetl_cp_worker_task_seconds: { kind: 'histogram', help: 'Run time of worker-thread tasks.', labels: { task: [] } },
  noetl_cp_worker_queue: { kind: 'gauge', help: 'Tasks waiting for a thread.' },
  noetl_cp_worker_threads: { kind: 'gauge', help: 'Threads of the pool.' },
  noetl_cp_schedule_starts_total: {
    kind: 'counter',
    help: 'Moments of schedules: started, left out because the run before was under way, or failed.',
    labels: { outcome: ['started', 'overlap', 'failed'] },
  },
  noetl_cp_failure_hooks_total: {
    kind: 'counter',
    help: 'Attempts to do what is wanted when an execution has failed: done, failed and tried again, or given up.',
    labels: { outcome: ['done', 'failed', 'given_up'] },
  },
  noetl_cp_tool_runs_total: {
    kind: 'counter',
    help: 'Commands that the built-in worker ran, by kind of tool and outcome; lost: their execution ended, or another worker got them.',
    labels: { kind: [], outcome: ['success', 'error', 'timeout', 'lost'] },
  },
  noetl_cp_tool_seconds: {
    kind: 'histogram',
    help: 'Run time of commands in the built-in worker.',
    labels: { kind: [] },
  },
  noetl_cp_worker_slots: { kind: 'gauge', help: 'Commands that the built-in worker may run at a time.' },
  noetl_cp_worker_slots_busy: { kind: 'gauge', help: 'Slots that are taken.' },
  noetl_cp_worker_commands_held: {
    kind: 'gauge',
    help: 'Commands that the built-in worker holds, those that lend their slot included.',
  },
  noetl_cp_loop_errors_total: {
    kind: 'counter',
    help: 'Passes of a background loop that failed.',
    labels: { loop: [] },
  },
  noetl_cp_api_protection: {
    kind: 'gauge',
    help: '1 for how the public API is protected: token, writes_token (reads open on this machine), local, open.',
    labels: { level: ['token', 'writes_token', 'local', 'open'] },
  },
  noetl_cp_http_requests_total: {
    kind: 'counter',
    help: 'HTTP requests by route pattern and status class.',
    labels: { route: [], status: ['2xx', '3xx', '4xx', '5xx'] },
  },
  noetl_cp_http_request_seconds: { kind: 'histogram', help: 'Time to answer.', labels: { route: [] } },
  noetl_cp_http_connections_cut_total: {
    kind: 'counter',
    help: 'Connections that were closed: too many requests at once, or answers that the client did not read.',
    labels: { reason: ['pipeline', 'unread'] },
  },
  noetl_cp_streams: { kind: 'gauge', help: 'Browsers and programs that listen to /api/stream at this daemon.' },
  noetl_cp_streams_cut_total: { kind: 'counter', help: 'Of these, those that read too slowly and were let go.' },
  noetl_cp_machine_id: { kind: 'gauge', help: 'The machine id in ids minted here; -1 while there is none.' },
  noetl_cp_id_clock_refusals: { kind: 'gauge', help: 'Ids refused because the clock fell back too far.' },
  noetl_cp_id_ahead_of_clock_seconds: { kind: 'gauge', help: 'How far the last id is ahead of the clock.' },
  noetl_cp_id_lease_errors_total: {
    kind: 'counter',
    help: 'Trouble with the lease of the machine id.',
    labels: { reason: ['lost', 'unreachable'] },
  },
  noetl_cp_commands_claimed_total: {
    kind: 'counter',
    help: 'Commands handed out to workers; reclaimed beyond their first attempt.',
    labels: { outcome: ['claimed', 'reclaimed'] },
  },
  noetl_cp_command_wait_seconds: {
    kind: 'histogram',
    help: 'From the issue of a command to the worker that got it, first attempts.',
  },
  noetl_cp_commands_lost_total: {
    kind: 'counter',
    help: 'Commands whose worker was lost: given to others, or failed after the last attempt.',
    labels: { outcome: ['reclaimed', 'failed'] },
  },
  noetl_cp_command_notices_repeated_total: {
    kind: 'counter',
    help: 'Times workers were told again of a command that nobody had taken.',
  },
  noetl_cp_workers_waiting: { kind: 'gauge', help: 'Workers that wait for commands at this daemon.' },
  noetl_cp_commands_open: {
    kind: 'gauge',
    help: 'Commands that wait for a worker or are held by one.',
    labels: { shard: [], status: ['PENDING', 'CLAIMED', 'RUNNING'] },
  },
  noetl_cp_commands_oldest_seconds: {
    kind: 'gauge',
    help: 'For how long the oldest of them has been there.',
    labels: { shard: [], status: ['PENDING', 'CLAIMED', 'RUNNING'] },
  },
  noetl_cp_command_answers_ignored_total: {
    kind: 'counter',
    help: 'Answers of workers that came too late, or for a command they do not hold.',
    labels: {
      reason: ['already_terminal', 'cancelled', 'execution_ended', 'reclaimed', 'not_holder', 'repeated'],
    },
  },
  noetl_cp_events_appended_total: {
    kind: 'counter',
    help: 'Events offered to the log by outcome.',
    labels: {
      outcome: ['stored', 'duplicate', 'conflict', 'claimed', 'ignored', 'unknownExecution'],
      source: ['api', 'projector'],
    },
  },
  noetl_cp_events_written_total: {
    kind: 'counter',
    help: 'Events written into the log by this process, of any origin.',
  },
  noetl_cp_events_adopted_total: { kind: 'counter', help: 'Events found that others had written into the table.' },
  noetl_cp_projector_quarantined_total: {
    kind: 'counter',
    help: 'Envelopes set aside because they could not be stored.',
  },
  noetl_cp_secrets_dropped_total: {
    kind: 'counter',
    help: 'Events whose secrets were removed for good, because there is no key to seal them with.',
  },
  noetl_cp_credential_reads_total: { kind: 'counter', help: 'Times that the values of a stored credential were read.' },
  noetl_cp_projector_skipped_total: { kind: 'counter', help: 'Messages of our own that the projector skipped.' },
  noetl_cp_outbox_publish_total: {
    kind: 'counter',
    help: 'Attempts to publish an outbox row by outcome.',
    labels: { outcome: ['stored', 'unknown', 'unavailable', 'rejected'] },
  },
  noetl_cp_outbox_duplicates_total: { kind: 'counter', help: 'Rows that the stream already had.' },
  noetl_cp_outbox_possible_duplicates_total: {
    kind: 'counter',
    help: 'Rows published again without knowing whether the stream already has them.',
  },
  noetl_cp_outbox_publish_seconds: { kind: 'histogram', help: 'Time from publish to acknowledgement.' },
  noetl_cp_outbox_dead_total: {
    kind: 'counter',
    help: 'Rows given up, by reason.',
    labels: { reason: ['attempts', 'subject', 'too_large', 'rejected'] },
  },
  noetl_cp_outbox_fenced_total: { kind: 'counter', help: 'Marks that changed nothing because the lease was lost.' },
  noetl_cp_outbox_lanes_taken_over_total: { kind: 'counter', help: 'Lanes taken from relays that vanished.' },
  noetl_cp_outbox_lanes: { kind: 'gauge', help: 'Lanes held by this daemon.', labels: { shard: [] } },
  noetl_cp_outbox_in_flight: { kind: 'gauge', help: 'Rows sent and not yet acknowledged.', labels: { shard: [] } },
  noetl_cp_outbox_rows: {
    kind: 'gauge',
    help: 'Outbox rows by status; PUBLISHED is not counted.',
    labels: { shard: [], status: ['PENDING', 'FAILED', 'IN_FLIGHT', 'EXPIRED', 'DEAD'] },
  },
  noetl_cp_outbox_oldest_age_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest unpublished row.',
    labels: { shard: [] },
  },
  noetl_cp_outbox_purged_total: { kind: 'counter', help: 'Published rows removed after their window.' },
  noetl_cp_replay_seconds: {
    kind: 'histogram',
    help: 'Time of replays.',
    labels: { kind: ['state', 'diff', 'verify', 'seed'] },
  },
  noetl_cp_replay_events_total: { kind: 'counter', help: 'Events folded by replays.' },
  noetl_cp_replay_seeds_total: {
    kind: 'counter',
    help: 'Replays that looked for a snapshot to start from: used, none there, or why it was refused.',
    labels: {
      outcome: [
        ...['used', 'none', 'registry', 'profile', 'projection', 'execution', 'version', 'checksum', 'unreadable'],
        ...['future', 'straggler'],
      ],
    },
  },
  noetl_cp_replay_seeds_stored_total: { kind: 'counter', help: 'Snapshots to replay from stored by this daemon.' },
  noetl_cp_state_advances_total: { kind: 'counter', help: 'Times a live state was brought up to date.' },
  noetl_cp_state_events_applied_total: { kind: 'counter', help: 'Events applied to live states.' },
  noetl_cp_state_advance_seconds: { kind: 'histogram', help: 'Time to bring a live state up to date.' },
  noetl_cp_state_triggers_coalesced_total: {
    kind: 'counter',
    help: 'Triggers that joined one that was already waiting.',
  },
  noetl_cp_state_entries: { kind: 'gauge', help: 'Live states in memory.' },
  noetl_cp_state_bytes: { kind: 'gauge', help: 'About what they occupy.' },
  noetl_cp_state_queued: { kind: 'gauge', help: 'Executions that wait for their thread.' },
  noetl_cp_state_tracked: { kind: 'gauge', help: 'Running executions that this daemon looks after.' },
  noetl_cp_state_lanes: { kind: 'gauge', help: 'Lanes of executions held by this daemon.', labels: { shard: [] } },
  noetl_cp_state_evictions_total: {
    kind: 'counter',
    help: 'Live states let go, by reason.',
    labels: { reason: ['bound', 'ended', 'stopped'] },
  },
  noetl_cp_state_rebuilds_total: {
    kind: 'counter',
    help: 'Live states built again, by what they were built from.',
    labels: { from: ['snapshot', 'log'] },
  },
  noetl_cp_console_scrub_seconds: {
    kind: 'histogram',
    help: 'Time of questions about a moment of an execution: its tape, its state, its checksum.',
    labels: { kind: ['tape', 'at', 'checksum'] },
  },
  noetl_cp_console_thread_losses_total: {
    kind: 'counter',
    help: 'Threads with tapes and keyframes that died or hung.',
  },
  noetl_cp_state_thread_losses_total: { kind: 'counter', help: 'Threads with live states that died or hung.' },
  noetl_cp_state_decisions_total: {
    kind: 'counter',
    help: 'Decisions of the orchestrator by outcome.',
    labels: { outcome: ['appended', 'repeated', 'fenced', 'ended'] },
  },
  noetl_cp_state_decision_seconds: {
    kind: 'histogram',
    help: 'From the beginning of a round over new events to the decision in the log; with the wait of its commands, one hop.',
  },
  noetl_cp_snapshots_written_total: { kind: 'counter', help: 'Snapshots of live states written.' },
  noetl_cp_snapshot_errors_total: { kind: 'counter', help: 'Snapshots of live states that could not be written.' },
  noetl_cp_snapshot_rejected_total: {
    kind: 'counter',
    help: 'Snapshots of live states that could not be used, by reason; the state was built from the log.',
    labels: {
      reason: ['format', 'unreadable', 'checksum', 'fold_version', 'foreign', 'version', 'future', 'count', 'digest'],
    },
  },
  noetl_cp_subscriptions: {
    kind: 'gauge',
    help: 'Subscriptions by state.',
    labels: { state: ['REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'] },
  },
  noetl_cp_subscription_dead_letters: { kind: 'gauge', help: 'Messages of subscriptions that were given up.' },
  noetl_cp_subscription_backlog: {
    kind: 'gauge',
    help: 'Messages that wait for live pull subscriptions, by their state; of the newest 200.',
    labels: { state: ['REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'] },
  },
  noetl_cp_subscription_oldest_age_seconds: {
    kind: 'gauge',
    help: 'How long the oldest of these messages has waited, by state.',
    labels: { state: ['REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'] },
  },
  noetl_cp_subscriptions_driven: { kind: 'gauge', help: 'Active pull subscriptions that this daemon drives.' },
  noetl_cp_subscription_messages_total: {
    kind: 'counter',
    help: 'Messages taken from sources by outcome.',
    labels: { outcome: ['started', 'duplicate', 'retried', 'returned', 'dead'] },
  },
  noetl_cp_ingress_requests_total: {
    kind: 'counter',
    help: 'Pushed messages by listener (unknown ones together) and outcome.',
    labels: {
      listener: [],
      outcome: ['accepted', 'duplicate', 'unknown', 'inactive', 'unverified', 'unusable', 'failed'],
    },
  },
  noetl_cp_event_loop_delay_p99_seconds: { kind: 'gauge', help: 'p99 delay of the main loop since the last scrape.' },
} satisfies Record<string, MetricRow>
