// The rows of the commands that decisions issue. What happens to them afterwards follows from events, see
// services/events/commandBook.ts.
import type { Tx } from '../../db/db.js'
import type { Decision } from '../../domain/state/orchestrator.js'
import { CpError } from '../../errors.js'
import { insertCommands } from '../../stores/commands/commandStore.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'
import type { AppendItem } from '../events/appendInTx.js'

/** A decision whose events are written. */
export interface Made {
  decision: Decision
  execution: LockedExecution
  items: AppendItem[]
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
  if (issued.length > 0 && !(await insertCommands(tx, issued))) {
    // The key of the decision is new but one of its commands is not: somebody decided by other rules.
    throw new CpError('conflict', `a command of ${issued[0]?.executionId} was issued before`)
  }
}
