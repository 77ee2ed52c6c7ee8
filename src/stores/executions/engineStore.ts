// Which engine decides for an execution, and what it would have to go on from.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { spellingsOf } from '../../domain/events/vocabulary.js'

const q = queries('execution_drive', 'execution_footing')

/** Of these the live fold makes steps, and an engine goes on from none but its own. */
const STEP_TYPES = spellingsOf(({ folded }) => folded === true)

export async function driveExecution(tx: Tx, executionId: string, engine: number): Promise<void> {
  await tx.run(q.execution_drive, [executionId, engine])
}

export interface Footing {
  /** The version of the engine that its start was written for. */
  engine: string | null
  /** The first event that tells of a step, for people: `step.enter of greet`. */
  begun: string | null
}

export async function readFooting(db: Queryable, executionId: string, startEventId: string): Promise<Footing> {
  const [row] = await db.run<Footing>(q.execution_footing, [executionId, startEventId, STEP_TYPES])
  return row!
}
