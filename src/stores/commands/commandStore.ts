// Commands as rows, written in the transaction of the events that cause them.
import type { Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('command_insert', 'command_fail', 'command_cancel', 'child_insert')

export interface NewCommandRow {
  executionId: string
  /** Of its command.issued. */
  eventId: string
  catalogId: string
  parentExecutionId: string | undefined
  key: string
  step: string
  kind: string
  pool: string
  status: 'PENDING' | 'PARKED'
  deadlineMs: number | undefined
  maxAttempts: number
  index: number | undefined
  /** The playbook it will start. */
  childExecutionId: string | undefined
}

/** False: one of them is there already. */
export async function insertCommands(tx: Tx, rows: readonly NewCommandRow[]): Promise<boolean> {
  const of = <T>(read: (row: NewCommandRow) => T | undefined): (T | null)[] => rows.map((row) => read(row) ?? null)
  const written = await tx.run(q.command_insert, [
    of((row) => row.executionId),
    of((row) => row.eventId),
    of((row) => row.catalogId),
    of((row) => row.parentExecutionId),
    of((row) => row.key),
    of((row) => row.step),
    of((row) => row.kind),
    of((row) => row.pool),
    of((row) => row.status),
    of((row) => row.deadlineMs),
    of((row) => row.maxAttempts),
    of((row) => row.index),
  ])
  const children = rows.filter((row) => row.childExecutionId !== undefined)
  if (children.length > 0) {
    await tx.run(q.child_insert, [
      children.map((row) => row.executionId),
      children.map((row) => row.eventId),
      children.map((row) => row.childExecutionId ?? null),
    ])
  }
  return written.length === rows.length
}

export interface GivenUp {
  executionId: string
  key: string
  eventId: string
  error: string
}

export async function failCommands(tx: Tx, list: readonly GivenUp[]): Promise<void> {
  await tx.run(q.command_fail, [
    list.map((one) => one.executionId),
    list.map((one) => one.key),
    list.map((one) => one.eventId),
    list.map((one) => one.error),
  ])
}

/** Of executions that have ended. */
export async function cancelCommands(tx: Tx, executionIds: readonly string[]): Promise<void> {
  await tx.run(q.command_cancel, [executionIds])
}
