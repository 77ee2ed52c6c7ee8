// Starts executions in one statement: values that they share are sent once, and every JSON part is parsed once.
import type { Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('start_insert')

/** What all executions of a batch have in common. */
export interface SharedStart {
  catalogId: string
  path: string
  parentExecutionId: string | undefined
  tenantId: string
  organizationId: string
  eventType: string
  nodeId: string
  nodeType: string
  eventStatus: string
  /** JSON text. */
  result: string
  executionStatus: string
  /** The version of the engine that drives them; null when nobody does. */
  engine: number | null
}

export interface OneStart {
  executionId: string
  eventId: string
  at: string
  subject: string
  trace: string | null
  /** JSON text. */
  context: string
  /** JSON text. */
  meta: string
  /** Its secrets. */
  sealed: string | null
}

/** One that exists already is a conflict. */
export async function insertStarts(tx: Tx, shared: SharedStart, starts: readonly OneStart[]): Promise<void> {
  await tx.run(q.start_insert, [
    starts.map((start) => start.executionId),
    starts.map((start) => start.eventId),
    starts.map((start) => start.at),
    starts.map((start) => start.subject),
    // unnest fills up a shorter array with nulls.
    starts.some((start) => start.trace !== null) ? starts.map((start) => start.trace) : [],
    `[${starts.map((start) => start.context).join(',')}]`,
    `[${starts.map((start) => start.meta).join(',')}]`,
    shared.catalogId,
    shared.path,
    shared.parentExecutionId ?? null,
    shared.tenantId,
    shared.organizationId,
    shared.eventType,
    shared.nodeId,
    shared.nodeType,
    shared.eventStatus,
    shared.result,
    shared.executionStatus,
    starts.some((start) => start.sealed !== null) ? starts.map((start) => start.sealed) : [],
    shared.engine,
  ])
}
