// The engine and its commands over a test database, as one daemon has them; several of these on one database are several
// daemons.

import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { type Commands, createCommands, type HeldCommand } from '../../src/services/commands/commands.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openState, type StateOptions, type TestState } from '../state/stateHarness.js'
import type { TestCore } from '../support/core.js'
import type { TestDatabase } from '../support/database.js'

export interface TestCommands {
  commands: Commands
  state: TestState
  errors: string[]
  ignored: string[]
  close(): Promise<void>
}

export async function openCommands(
  core: TestCore,
  options: StateOptions & { pollMs?: number } = {},
): Promise<TestCommands> {
  const errors: string[] = []
  const ignored: string[] = []
  const commands = createCommands({
    ...core,
    pollMs: options.pollMs ?? 200,
    onError: (error) => errors.push(error.message),
    onIgnored: (reason) => ignored.push(reason),
  })
  await commands.start()
  const state = await openState(core, { engine: {}, ...options, onIssued: commands.nudge, handOver: commands })
  return {
    commands,
    state,
    errors,
    ignored,
    close: async () => {
      await commands.stop(2_000)
      await state.close()
    },
  }
}

let serial = 0

/** The workflow as YAML. Answers the execution. */
export async function startWorkflow(core: TestCore, workflow: string, more: JsonObject = {}): Promise<string> {
  const path = `test/commands${++serial}`
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: ${path}}\n${workflow}`
  const { catalogId } = await registerEntry(core, { content })
  const request = { catalogId, payload: {}, ...more }
  return (await startExecution({ ...core, engine: ENGINE_VERSION }, request)).executionId
}

/** One step of a kind that only workers run, alone in its pool. */
export function oneStep(kind = 'python'): string {
  return `workflow:\n- {step: a, tool: {kind: ${kind}, code: "x"}}\n`
}

export const done = (data: JsonObject = {}) =>
  ({
    type: 'call.done',
    status: 'COMPLETED',
    payload: { call_index: 0, result: { status: 'success', context: { status: 'success', data } } },
  }) as const

export const completed = { type: 'command.completed', status: 'success', payload: { status: 'success' } } as const

export interface RowOfCommand {
  status: string
  attempt: number
  worker_id: string | null
  has_lease: boolean
}

export async function rowOf(database: TestDatabase, eventId: string): Promise<RowOfCommand> {
  const [row] = await database.sql<RowOfCommand>(
    `select status, attempt, worker_id, lease_until is not null as has_lease from noetl.command where event_id = $1::bigint`,
    [eventId],
  )
  return row!
}

export async function expireLease(database: TestDatabase, { eventId }: Pick<HeldCommand, 'eventId'>): Promise<void> {
  await database.sql(`update noetl.command set lease_until = now() - interval '1 second' where event_id = $1::bigint`, [
    eventId,
  ])
}
