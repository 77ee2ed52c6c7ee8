// What this process left of the executions that it drives: whoever appends to one of them next need not look first. It decides by
// what is remembered, and its transaction begins with a statement that fails if anything of it has changed since; then
// everything is looked up as ever. That saves a round trip under the lock, where one execution goes from step to step.
import type { Tx } from '../../db/db.js'
import { type CommandRow, isFinal } from '../../domain/commands/commandRules.js'
import { isStartEventType } from '../../domain/events/eventType.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import { PassingMap } from '../../runtime/passingMap.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'
import { expectExecution } from '../../stores/executions/expectedExecution.js'
import type { AppendItem } from './appendOutcome.js'
import { type CommandName, commandBookOf, commandNamed } from './commandBook.js'
import { claimOf, type Found } from './lookUp.js'

export interface Remembered {
  /** What `lookUp` of the items would find. Taken out, as all that they concern: it stands again when it is left again. */
  take(items: readonly AppendItem[]): Recollection | undefined
  /** What a transaction that was committed has found and made of it, and the commands that it has issued. */
  leave(found: Found, issued: readonly CommandRow[]): void
  /** Somebody else writes to it. */
  forget(executionId: string): void
  /** What was remembered of it was not true: others write to it again and again. */
  distrust(executionId: string): void
}

export interface Recollection {
  readonly found: Found
  /** Fails with `conflict` if it is not so any more; otherwise nobody changes it until the transaction ends. */
  expect(tx: Tx): Promise<void>
}

interface Memory {
  execution: LockedExecution
  highest: bigint
  /** The open ones that are known. */
  commands: readonly CommandRow[]
}

const EXECUTIONS_MAX = 5_000
const COMMANDS_MAX = 50
const DISTRUSTED_MAX = 1_000

export function createRemembered(): Remembered {
  const memories = new PassingMap<string, Memory>()
  const distrusted = new Set<string>()

  return {
    take: (items) => {
      const executionId = items[0]!.event.executionId
      const memory = memories.get(executionId)
      for (const { event } of items) memories.delete(event.executionId)
      if (memory === undefined) return undefined
      const names = namesIn(items, executionId)
      if (names === undefined || names.length > 1) return undefined
      const named = memory.commands.filter(({ key }) => names.some(({ commandId }) => commandId === key))
      if (named.length < names.length) return undefined
      // Whether a lease is over is for the database to say.
      const isClaim = items.some(({ event }) => claimOf(event) !== undefined)
      if (isClaim && named.some(({ status }) => status !== 'PENDING')) return undefined
      return recollect(memory, items, named[0])
    },
    leave: ({ executions, highest, commands }, issued) => {
      const [execution, ...others] = executions.values()
      if (execution === undefined || others.length > 0 || distrusted.has(execution.executionId)) return
      const { executionId, summary, engine } = execution
      const top = highest.get(executionId)
      const open = [...commands.rows(), ...issued].filter(({ status }) => !isFinal(status))
      if (engine === undefined || top === undefined || isTerminalStatus(summary.status)) return
      if (open.length > COMMANDS_MAX) return
      memories.set(executionId, {
        execution,
        highest: top,
        commands: open,
      })
      if (memories.size > EXECUTIONS_MAX) memories.delete(memories.keys().next().value!)
    },
    forget: (executionId) => {
      memories.delete(executionId)
    },
    distrust: (executionId) => {
      memories.delete(executionId)
      distrusted.add(executionId)
      if (distrusted.size > DISTRUSTED_MAX) distrusted.delete(distrusted.values().next().value!)
    },
  }
}

/** The commands that are named; undefined: more must be known than is remembered. */
function namesIn(items: readonly AppendItem[], executionId: string): CommandName[] | undefined {
  const names = new Map<string, CommandName>()
  for (const { event, idGiven, publish, createExecution, restores } of items) {
    if (event.executionId !== executionId || idGiven || !publish || createExecution || restores === true)
      return undefined
    if (isStartEventType(event.eventType)) return undefined
    const name = commandNamed(event)
    if (name !== undefined) names.set(name.commandId, name)
    else if (claimOf(event) !== undefined) return undefined
  }
  return [...names.values()]
}

function recollect(
  { execution, highest, commands }: Memory,
  items: readonly AppendItem[],
  named: CommandRow | undefined,
): Recollection {
  const { executionId, streamVersion } = execution
  return {
    found: {
      executions: new Map([[executionId, execution]]),
      commands: commandBookOf(items, commands),
      existing: [],
      claimed: [],
      highest: new Map([[executionId, highest]]),
    },
    expect: (tx) => expectExecution(tx, { executionId, streamVersion, highest, command: named }),
  }
}
