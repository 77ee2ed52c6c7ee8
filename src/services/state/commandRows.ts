// The rows of the commands that decisions issue. What happens to them afterwards follows from events, see
// services/events/commandBook.ts.
import type { Tx } from '../../db/db.js'
import type { Decision } from '../../domain/state/orchestrator.js'
import { insertCommands } from '../../stores/commands/commandStore.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'

/** A decision whose events are written. */
export interface Made {
  decision: Decision
  execution: LockedExecution
  /** By event: the execution that its command will start. */
  children: ReadonlyMap<number, string>
  /** By event, as stored. */
  eventIds: string[]
}

export async function writeCommandRows(tx: Tx, made: readonly Made[]): Promise<void> {
  const issued = made.flatMap(({ decision, execution, children, eventIds }) =>
    (decision.commands ?? []).map((command) => ({
      ...command,
      executionId: execution.executionId,
      catalogId: execution.catalogId,
      parentExecutionId: execution.parentExecutionId,
      eventId: eventIds[command.event]!,
      status: command.waitsFor === 'worker' ? ('PENDING' as const) : ('PARKED' as const),
      deadlineMs: command.deadlineMs,
      index: command.index,
      priority: command.priority ?? 0,
      childExecutionId: children.get(command.event),
    })),
  )
  if (issued.length > 0) await insertCommands(tx, issued)
}
