// Playbooks that commands have started, or are about to: rows beside the command of the parent.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'child_due',
  'child_of_ended',
  'child_begin',
  'child_abandon',
  'child_started',
  'child_done',
  'child_postpone',
  'child_executions',
  'child_command',
  'child_answer',
)

export interface ChildRow {
  parent_execution_id: string
  /** Event of the command.issued. */
  command_id: string
  child_execution_id: string
  state: 'PENDING' | 'STARTED'
}

export function dueChildren(db: Queryable, limit: number, againAfterSeconds: number): Promise<ChildRow[]> {
  return db.run<ChildRow>(q.child_due, [limit, againAfterSeconds])
}

export function childrenOfEnded(db: Queryable, executionIds: readonly string[]): Promise<ChildRow[]> {
  return db.run<ChildRow>(q.child_of_ended, [executionIds])
}

type ChildKey = Pick<ChildRow, 'parent_execution_id' | 'command_id'>

/** False: it is not to be started any more. */
export async function noteBegun(db: Queryable, { parent_execution_id: parent, command_id: id }: ChildKey) {
  return (await db.run(q.child_begin, [parent, id])).length > 0
}

/** Unless somebody began to start it within so many seconds. */
export async function abandonChild(
  db: Queryable,
  { parent_execution_id: parent, command_id: id }: ChildKey,
  seconds: number,
) {
  await db.run(q.child_abandon, [parent, id, seconds])
}

export async function noteStarted(db: Queryable, { parent_execution_id: parent, command_id: id }: ChildKey) {
  await db.run(q.child_started, [parent, id])
}

/** False: somebody was faster. */
export async function noteDone(db: Queryable, { parent_execution_id: parent, command_id: id }: ChildKey) {
  return (await db.run(q.child_done, [parent, id])).length > 0
}

export async function postponeChild(
  db: Queryable,
  { parent_execution_id: parent, command_id: id }: ChildKey,
  why: string,
) {
  await db.run(q.child_postpone, [parent, id, why])
}

export interface FamilyMember {
  execution_id: string
  status: string
  path: string | null
  error: string | null
  terminal_event_id: string | null
  start_event_id: string | null
  tenant_id: string
  organization_id: string
  parent_execution_id: string | null
  duration_ms: number | null
}

export function readFamily(db: Queryable, executionIds: readonly string[]): Promise<FamilyMember[]> {
  return db.run<FamilyMember>(q.child_executions, [executionIds])
}

export interface WaitingCommand {
  command_key: string
  status: string
  step_name: string
}

export async function lockCommand(tx: Tx, { parent_execution_id: parent, command_id: id }: ChildKey) {
  const [row] = await tx.run<WaitingCommand>(q.child_command, [parent, id])
  return row
}

export async function endCommand(
  tx: Tx,
  { parent_execution_id: parent, command_id: id }: ChildKey,
  end: { status: 'COMPLETED' | 'FAILED'; eventId: string; error: string | undefined },
): Promise<void> {
  await tx.run(q.child_answer, [parent, id, end.status, end.eventId, end.error ?? null])
}
