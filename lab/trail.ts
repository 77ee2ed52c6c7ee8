// The minimal trail of a violation: what was sent, what is stored, what was delivered, and the faults of that time.
import { shardOf } from '../src/domain/shards/shards.js'
import type { Evidence } from './evidence.js'
import type { Journal, Violation } from './journal.js'
import type { Ledger } from './ledger.js'

const NEIGHBOURS = 6
/** A write and the fault that hurt it may be this far apart. */
const AROUND_SECONDS = 15

export function trailOf(
  violation: Violation,
  evidence: Evidence | undefined,
  ledger: Ledger,
  journal: Journal,
): string {
  const lines = [`${violation.invariant} ${violation.kind}: ${violation.message}`]
  const { executionId, eventId } = violation
  if (executionId !== undefined) {
    const sent = ledger.executions.get(executionId)?.events.find((event) => event.eventId === eventId)
    if (sent !== undefined)
      lines.push(
        `  sent       ${sent.at.toFixed(1)} s ${sent.type} ${sent.mark}, ${sent.acknowledged ? 'acknowledged' : 'outcome unknown'}`,
      )
    if (evidence !== undefined) lines.push(...stored(evidence, executionId, eventId))
  }
  const at = violation.at ?? ledger.executions.get(executionId ?? '')?.events[0]?.at
  for (const fault of journal.faults) {
    if (at !== undefined && (fault.from > at + AROUND_SECONDS || (fault.to ?? fault.from) < at - AROUND_SECONDS))
      continue
    lines.push(
      `  fault      ${fault.from.toFixed(1)} to ${fault.to?.toFixed(1) ?? '?'} s ${fault.name}, ${fault.victim}`,
    )
  }
  return lines.join('\n')
}

function stored({ shards, messages }: Evidence, executionId: string, eventId: string | undefined): string[] {
  const lines: string[] = []
  const { events, outbox, executions } = shards[shardOf(executionId, shards.length)]!
  const near = <T extends { event_id: string }>(rows: readonly T[]): readonly T[] => {
    const place = Math.max(
      0,
      rows.findIndex((row) => row.event_id === eventId),
    )
    return rows.slice(Math.max(0, place - NEIGHBOURS / 2), place + NEIGHBOURS / 2)
  }
  const execution = executions.find((row) => row.execution_id === executionId)
  lines.push(
    `  read model ${execution === undefined ? 'none' : `${execution.status}, ${execution.event_count} events`}`,
  )
  for (const row of near(events.filter((row) => row.execution_id === executionId)))
    lines.push(`  log        #${row.stream_version ?? '-'} event ${row.event_id} ${row.event_type} ${row.mark ?? ''}`)
  for (const row of near(outbox.filter((row) => row.execution_id === executionId)))
    lines.push(
      `  outbox     row ${row.outbox_id} event ${row.event_id} ${row.status} ${row.published_at ?? ''} as ${row.stream_seq ?? '-'}, ${row.attempts} attempt(s)${row.last_error === null ? '' : `, ${row.last_error}`}`,
    )
  const mine = messages
    .filter((message) => message.executionId === executionId)
    .map((message) => ({ ...message, event_id: message.messageId?.split(':')[1] ?? '' }))
  for (const message of near(mine))
    lines.push(
      `  stream     seq ${message.seq} at ${new Date(message.storedMs).toISOString().slice(11, 23)} ${message.messageId} row ${message.outboxId}`,
    )
  return lines
}
