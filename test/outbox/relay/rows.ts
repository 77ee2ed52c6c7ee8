// A row as the relay reads it, with an execution whose lane is easy to name.
import type { OutboxRow } from '../../../src/stores/outbox/outboxStore.js'

export const TEST_LANES = [0, 1, 2, 3]

export function row(id: number, execution: number, waitMs = 0): OutboxRow {
  return {
    outbox_id: String(id),
    owned: true,
    lane: execution % TEST_LANES.length,
    execution_id: String(execution),
    event_id: String(id),
    attempts: 0,
    wait_ms: waitMs,
    unanswered_ms: undefined,
    has_failed: false,
    subject: null,
    payload: '{}',
    trace: null,
    event_type: null,
    stream_version: null,
  }
}
