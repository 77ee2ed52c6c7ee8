// Writes rows as the NoETL server does: plain INSERTs of event and outbox row in one transaction, straight into the
// database. And late events without outbox row, with old ids and times, into executions of others.

import { composeSnowflake } from '../../src/domain/ids/snowflake.js'
import { shardOf } from '../../src/domain/shards/shards.js'
import type { LedgerEvent, LedgerExecution } from '../ledger.js'
import { PREFIX } from '../site.js'
import type { Load, LoadContext } from './loadContext.js'

const INSERT_EVENT = `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, context, result, meta, created_at, event_time)
  values ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $5::text, 'RUNNING', $6::text::jsonb, $7::text::jsonb, '{}', $8::timestamptz at time zone 'utc', $8::timestamptz)
  on conflict do nothing`
const INSERT_OUTBOX = `insert into noetl.outbox (execution_id, event_id, subject, payload)
  values ($1::bigint, $2::bigint, $3::text, $4::text::jsonb) on conflict do nothing`

let serial = 0

export const writeForeignExecutions: Load = async (context) => {
  while (!context.isOver()) {
    const mark = `foreign-${serial++}`
    const execution: LedgerExecution = { executionId: context.ledger.mintId(), mark, writer: 'foreign', events: [] }
    context.ledger.add(execution)
    const types = [
      'playbook_started',
      'step_enter',
      'command_issued',
      'command_completed',
      'step_exit',
      'playbook_completed',
    ]
    for (const type of types) {
      if (context.isOver()) return
      await insertRow(context, execution, type, { withOutbox: true, at: Date.now() })
      await context.pause(5, 40)
    }
    execution.ended = 'COMPLETED'
  }
}

/** What arrives late: rows below the ids and times that were folded long ago. */
export const writeStragglers: Load = async (context) => {
  while (!context.isOver()) {
    await context.pause(80, 300)
    const candidates = context.ledger.recent()
    if (candidates.length === 0 || context.isOver()) continue
    const at = Date.now() - context.random.between(0, 600_000)
    await insertRow(context, context.random.pick(candidates), 'step.enter', { withOutbox: false, at })
  }
}

async function insertRow(
  context: LoadContext,
  execution: LedgerExecution,
  type: string,
  { withOutbox, at }: { withOutbox: boolean; at: number },
): Promise<void> {
  const { executionId } = execution
  const event: LedgerEvent = {
    eventId: withOutbox ? context.ledger.mintId() : composeSnowflake(at, 1006, serial % 4096).toString(),
    type,
    step: 'foreign',
    mark: `event-f${serial++}`,
    at: context.journal.seconds(),
    acknowledged: false,
  }
  execution.events.push(event)
  const db = context.site.shards[shardOf(executionId, context.site.shards.length)]!.db
  const started = JSON.stringify({ path: 'chaos/foreign', workload: { mark: execution.mark } })
  const result = JSON.stringify({ status: 'RUNNING', context: { mark: event.mark } })
  const time = new Date(at).toISOString()
  const envelope = `{"event_id":${event.eventId},"execution_id":${executionId},"catalog_id":${context.catalogId},"event_type":"${type}","node_name":"foreign","timestamp":"${time}","result":${result}}`
  // Whether a lost connection lost the row, too, only a repetition tells: with the same ids it is harmless.
  for (;;) {
    try {
      await db.tx(async (tx) => {
        await tx.run({ name: 'foreign_event', text: INSERT_EVENT }, [
          executionId,
          event.eventId,
          context.catalogId,
          type,
          'foreign',
          type === 'playbook_started' ? started : null,
          result,
          time,
        ])
        if (withOutbox) {
          const subject = `${PREFIX}.default.default.${executionId}.0`
          await tx.run({ name: 'foreign_outbox', text: INSERT_OUTBOX }, [executionId, event.eventId, subject, envelope])
        }
      })
      event.acknowledged = true
      context.ledger.counts.foreignRows += 1
      return
    } catch {
      await context.pause(100, 300)
    }
  }
}
