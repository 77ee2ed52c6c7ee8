// The job of the comparison: an event as the outbox holds it, and the message that the relay makes of it. Every side
// publishes the same subjects, headers and bodies.
const EXECUTIONS = 5_000
const FIRST_EXECUTION = 380000000000000000n
const FILLER = 'x'.repeat(512 - 175)

export function eventOf(n) {
  return {
    event_id: n,
    execution_id: String(FIRST_EXECUTION + BigInt(n % EXECUTIONS) * 4194304n),
    event_type: 'step.exit',
    stream_version: Math.floor((n - 1) / EXECUTIONS) + 1,
    timestamp: '2026-11-16T00:00:00.000000+00:00',
    filler: FILLER,
  }
}

export function messageOf(event) {
  const { event_id: id, execution_id: execution } = event
  return {
    subject: `noetl.events.default.default.${execution}.0`,
    body: JSON.stringify(event),
    id: `${execution}:${id}`,
    headers: [
      ['Noetl-Origin', 'bench'],
      ['Noetl-Outbox-Id', id],
      ['Noetl-Execution-Id', execution],
      ['Noetl-Stream-Version', event.stream_version],
      ['Noetl-Event-Type', event.event_type],
    ],
  }
}
