// Starts executions and runs them to their end over HTTP: single events and batches, every one with an id and a mark
// of its own, repeated with the same id when the outcome is unknown.
import type { LedgerEvent, LedgerExecution } from '../ledger.js'
import { type Load, type LoadContext, PLAYBOOK, wronglyRefused } from './loadContext.js'

let serial = 0

export const runExecutions: Load = async (context) => {
  const { random } = context
  while (!context.isOver()) {
    const execution = await start(context)
    if (execution === undefined) continue
    // Now and then a long one, so that snapshots have a tail.
    const steps = random.chance(0.04) ? 25 : random.between(1, 4)
    for (let step = 1; step <= steps && !context.isOver(); step++) {
      await runStep(context, execution, `step${step}`)
      await context.pause(0, 30)
    }
    if (!context.isOver()) await end(context, execution)
  }
}

export async function start(context: LoadContext): Promise<LedgerExecution | undefined> {
  const mark = `start-${serial++}`
  const answer = await context.client.insist('POST', '/api/execute', {
    path: PLAYBOOK,
    payload: { mark },
    driven: false,
    dedup: { key: mark, window_secs: 3_600 },
  })
  if (answer.status !== 200) {
    wronglyRefused(context, 'a start', answer)
    return undefined
  }
  const executionId: string = answer.body.execution_id
  const ids = context.ledger.starts.get(mark) ?? new Set<string>()
  context.ledger.starts.set(mark, ids.add(executionId))
  const execution: LedgerExecution = { executionId, mark, writer: 'http', events: [] }
  context.ledger.add(execution)
  return execution
}

async function runStep(context: LoadContext, execution: LedgerExecution, step: string): Promise<void> {
  const command_id = `${execution.executionId}:${step}`
  const types = ['step.enter', 'command.issued', 'command.started', 'command.completed', 'step.exit']
  const events = types.map((type) => newEvent(context, execution, type, step))
  const wire = events.map((event) => toWire(event, { command_id }))
  if (context.random.chance(0.5)) await appendBatch(context, execution, events, wire)
  else for (const [index, event] of events.entries()) await appendOne(context, execution, event, wire[index]!)
}

export function newEvent(context: LoadContext, execution: LedgerExecution, type: string, step: string): LedgerEvent {
  const event: LedgerEvent = {
    eventId: context.ledger.mintId(),
    type,
    step,
    mark: `event-${serial++}`,
    at: context.journal.seconds(),
    acknowledged: false,
  }
  execution.events.push(event)
  return event
}

export function toWire(event: LedgerEvent, meta: object) {
  const { eventId: event_id, type: event_type, step, mark } = event
  return { event_id, event_type, step, meta, payload: { mark, filler: 'x'.repeat(40) } }
}

async function appendOne(
  context: LoadContext,
  execution: LedgerExecution,
  event: LedgerEvent,
  wire: object,
): Promise<void> {
  const answer = await context.client.insist('POST', '/api/events', { execution_id: execution.executionId, ...wire })
  if (answer.status === 200) event.acknowledged = true
  else wronglyRefused(context, `event ${event.eventId} of execution ${execution.executionId}`, answer)
}

async function appendBatch(
  context: LoadContext,
  execution: LedgerExecution,
  events: readonly LedgerEvent[],
  wire: readonly object[],
): Promise<void> {
  const answer = await context.client.insist('POST', '/api/events/batch', {
    execution_id: execution.executionId,
    events: wire,
  })
  if (answer.status !== 200 || answer.body.status !== 'ok') {
    return wronglyRefused(context, `a batch of execution ${execution.executionId}`, answer)
  }
  for (const event of events) event.acknowledged = true
}

async function end(context: LoadContext, execution: LedgerExecution): Promise<void> {
  const dice = context.random.next()
  if (dice < 0.05) return
  if (dice < 0.12) {
    const answer = await context.client.insist('POST', `/api/executions/${execution.executionId}/cancel`, {})
    // After an unknown outcome the repetition may find it ended: by the first try.
    if (answer.status === 200 || answer.status === 422) execution.ended = 'CANCELLED'
    else wronglyRefused(context, `the cancellation of ${execution.executionId}`, answer)
    return
  }
  const outcome = dice < 0.2 ? 'failed' : 'completed'
  const event = newEvent(context, execution, `playbook.${outcome}`, 'playbook')
  await appendOne(context, execution, event, toWire(event, {}))
  if (event.acknowledged) execution.ended = outcome === 'failed' ? 'FAILED' : 'COMPLETED'
}
