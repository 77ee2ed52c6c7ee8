// The rows of the commands that decisions issue. What happens to them afterwards follows from events, see
// services/events/commandBook.ts.
import type { Tx } from '../../db/db.js'
import type { Decision, NewCommand } from '../../domain/state/orchestrator.js'
import { insertCommands, type NewCommandRow } from '../../stores/commands/commandStore.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'

/** A decision whose events are written. */
export interface Made {
  decision: Decision
  execution: LockedExecution
  /** By event: the execution that its command will start. */
  children: ReadonlyMap<number, string>
  /** By event, as stored. */
  eventIds: string[]
  /** Commands that are handed over, and the events that claim them. */
  claims: ReadonlyMap<NewCommand, { eventId: string; workerId: string; leaseSeconds: number }>
}

export function newCommandRows(made: readonly Made[]): NewCommandRow[] {
  return made.flatMap(({ decision, execution, children, eventIds, claims }) =>
    (decision.commands ?? []).map((command) => ({
      ...command,
      workerId: claims.get(command)?.workerId,
      leaseSeconds: claims.get(command)?.leaseSeconds,
      latestEventId: claims.get(command)?.eventId ?? eventIds[command.event]!,
      executionId: execution.executionId,
      catalogId: execution.catalogId,
      parentExecutionId: execution.parentExecutionId,
      eventId: eventIds[command.event]!,
      status: statusOf(command, claims.has(command)),
      deadlineMs: command.deadlineMs,
      index: command.index,
      priority: command.priority ?? 0,
      childExecutionId: children.get(command.event),
    })),
  )
}

/** Answers until when each that is handed over is held, by the event of its command.issued. */
export async function writeCommandRows(tx: Tx, issued: readonly NewCommandRow[]): Promise<Map<string, string>> {
  return issued.length === 0 ? new Map() : insertCommands(tx, issued)
}

function statusOf({ waitsFor }: NewCommand, isClaimed: boolean): 'PENDING' | 'PARKED' | 'CLAIMED' {
  if (waitsFor === 'playbook') return 'PARKED'
  return isClaimed ? 'CLAIMED' : 'PENDING'
}
