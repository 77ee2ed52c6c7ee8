// Ends the executions that the subscription started, as a worker would: otherwise they would only ever become more.
import { type Load, wronglyRefused } from './loadContext.js'

const AT_A_TIME = 20

export function finishStarted(subscriptionId: string): Load {
  return async (context) => {
    const { site, ledger, client, journal, random } = context
    while (!context.isOver()) {
      await context.pause(100, 400)
      const running = await random
        .pick(site.shards)
        .sql<{ execution_id: string }>(
          `select execution_id::text as execution_id from noetl.execution where parent_execution_id = $1::bigint and status = 'RUNNING' order by 1 limit $2::int`,
          [subscriptionId, AT_A_TIME],
        )
        // The database is away; so is the worker's work.
        .catch(() => [])
      for (const { execution_id: executionId } of running) {
        if (context.isOver()) return
        const known = ledger.executions.get(executionId)
        if (known?.ended !== undefined) continue
        const mark = `event-end-${executionId}`
        const event = known?.events[0] ?? {
          eventId: ledger.mintId(),
          type: 'playbook.completed',
          step: 'playbook',
          mark,
          at: journal.seconds(),
          acknowledged: false,
        }
        const execution = known ?? { executionId, mark, writer: 'source' as const, events: [event] }
        if (known === undefined) ledger.add(execution)
        const answer = await client.insist('POST', '/api/events', {
          execution_id: executionId,
          event_id: event.eventId,
          event_type: event.type,
          step: event.step,
          payload: { mark },
        })
        if (answer.status !== 200) {
          wronglyRefused(context, `the end of ${executionId}`, answer)
          continue
        }
        event.acknowledged = true
        execution.ended = 'COMPLETED'
      }
    }
  }
}
