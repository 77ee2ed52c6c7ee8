// An execution as somebody left it, for a transaction that goes on from there without looking first.
import type { Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { CommandRow } from '../../domain/commands/commandRules.js'

const q = queries('execution_expect', 'execution_expect_command')

export interface Expected {
  executionId: string
  streamVersion: bigint
  highest: bigint
  /** One of its commands. */
  command: CommandRow | undefined
}

/** Fails with `conflict` unless its log ends there and its command is as it was left; nobody else appends to it until the transaction ends. */
export async function expectExecution(
  tx: Tx,
  { executionId, streamVersion, highest, command }: Expected,
): Promise<void> {
  const log = [executionId, streamVersion.toString(), highest.toString()]
  if (command === undefined) {
    await tx.run(q.execution_expect, log)
    return
  }
  const { key, status, attempt, workerId, leaseToken, dataAttempt, errorAttempt } = command
  const left = [key, status, attempt, workerId ?? null, leaseToken, dataAttempt, errorAttempt]
  await tx.run(q.execution_expect_command, [...log, ...left])
}
