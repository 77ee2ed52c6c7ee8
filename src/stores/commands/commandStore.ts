// Commands as rows, written in the transaction of the events that cause them.
import type { Tx } from '../../db/db.js'
import { runOneOrMany } from '../../db/oneOrMany.js'
import type { Scalar } from '../../db/params.js'
import { queries } from '../../db/queries.js'
import { type CommandRow, type CommandStatus, LEASE_SECONDS } from '../../domain/commands/commandRules.js'

const q = queries(
  'command_insert',
  'command_cancel',
  'child_insert',
  'command_named',
  'command_change',
  'command_change_one',
)

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
  status: 'PENDING' | 'PARKED' | 'CLAIMED'
  deadlineMs: number | undefined
  maxAttempts: number
  index: number | undefined
  /** Higher comes first. */
  priority: number
  /** The playbook it will start. */
  childExecutionId: string | undefined
  /** Whom it is handed over to. */
  workerId: string | undefined
  leaseSeconds: number | undefined
  /** The last event about it. */
  latestEventId: string
}

/** Answers until when each that is handed over is held, by id. */
export async function insertCommands(tx: Tx, rows: readonly NewCommandRow[]): Promise<Map<string, string>> {
  const of = <T>(read: (row: NewCommandRow) => T | undefined): (T | null)[] => rows.map((row) => read(row) ?? null)
  const commands = tx.run<{ command_id: string; lease_until: string | null }>(q.command_insert, [
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
    of((row) => row.priority),
    of((row) => row.workerId),
    of((row) => row.leaseSeconds),
    of((row) => row.latestEventId),
  ])
  const children = rows.filter((row) => row.childExecutionId !== undefined)
  const started =
    children.length === 0
      ? undefined
      : tx.run(q.child_insert, [
          children.map((row) => row.executionId),
          children.map((row) => row.eventId),
          children.map((row) => row.childExecutionId ?? null),
        ])
  const [inserted] = await Promise.all([commands, started])
  return new Map(inserted.flatMap((row) => (row.lease_until === null ? [] : [[row.command_id, row.lease_until]])))
}

/** As `findCommands` finds it. */
export function rowOfNew(row: NewCommandRow): CommandRow {
  const { executionId, eventId: commandId, key, status, maxAttempts, workerId } = row
  const leaseSeconds = row.leaseSeconds ?? LEASE_SECONDS
  const claim = { leaseToken: workerId === undefined ? 0 : 1, leaseSeconds, leaseLeftSeconds: leaseSeconds }
  const attempts = { attempt: 1, maxAttempts, dataAttempt: 0, errorAttempt: 0 }
  return { executionId, commandId, key, status, workerId, ...claim, ...attempts }
}

/** Of executions that have ended. */
export async function cancelCommands(tx: Tx, executionIds: readonly string[]): Promise<void> {
  await tx.run(q.command_cancel, [executionIds])
}

interface NamedRow {
  execution_id: string
  command_id: string
  command_key: string
  status: CommandStatus
  attempt: number
  max_attempts: number
  worker_id: string | null
  lease_token: string | null
  lease_seconds: number | null
  lease_left: number | null
  data_attempt: number
  error_attempt: number
}

/** Those that have rows; nobody else changes them until the transaction ends. */
export async function findCommands(
  tx: Tx,
  names: readonly { executionId: string; commandId: string }[],
): Promise<CommandRow[]> {
  const rows = await tx.run<NamedRow>(q.command_named, [
    names.map((name) => name.executionId),
    names.map((name) => name.commandId),
  ])
  return rows.map((row) => ({
    executionId: row.execution_id,
    commandId: row.command_id,
    key: row.command_key,
    status: row.status,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    workerId: row.worker_id ?? undefined,
    leaseToken: Number(row.lease_token ?? 0),
    leaseSeconds: row.lease_seconds ?? LEASE_SECONDS,
    leaseLeftSeconds: row.lease_left ?? 0,
    dataAttempt: row.data_attempt,
    errorAttempt: row.error_attempt,
  }))
}

export interface CommandChange {
  row: CommandRow
  eventId: string | undefined
  error: string | undefined
}

/** Of rows that `findCommands` has read. Answers until when each is held, by id. */
export async function changeCommands(tx: Tx, list: readonly CommandChange[]): Promise<Map<string, string | null>> {
  const forms = { one: q.command_change_one, many: q.command_change }
  const rows = await runOneOrMany<{ command_id: string; lease_until: string | null }>(tx, forms, list.map(changeValues))
  return new Map(rows.map((row) => [row.command_id, row.lease_until]))
}

function changeValues({ row, eventId, error }: CommandChange): Scalar[] {
  const { executionId, key, status, attempt, workerId, leaseToken, leaseSeconds, dataAttempt, errorAttempt } = row
  const what = [executionId, key, status, attempt, workerId, leaseToken, leaseSeconds, dataAttempt, errorAttempt]
  return [...what, eventId, error].map((value) => value ?? null)
}
