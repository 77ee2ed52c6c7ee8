// A container that a worker started and did not wait for calls back, or whoever watches it does: that ends the command
// which was parked for it.
import type { Databases } from '../../db/databases.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { type FailureKind, failureJson, ToolFailure } from '../../domain/tool/toolFailure.js'
import { CpError } from '../../errors.js'
import { getExecution } from '../../stores/executions/executionStore.js'
import type { Commands, ReportOutcome, ShownCommand, WorkerReport } from './commands.js'

/** How a container ended → the kind of failure that playbooks compare with; undefined: none. */
const ENDS = {
  succeeded: undefined,
  failed: 'exception',
  failed_image_pull: 'config',
  failed_oom: 'exception',
  failed_node_lost: 'connection',
  failed_timeout: 'timeout',
} as const satisfies Record<string, FailureKind | undefined>

export type ContainerEnd = keyof typeof ENDS
export const CONTAINER_ENDS = Object.keys(ENDS) as ContainerEnd[]

export interface ContainerCall {
  executionId: ExecutionId
  step: string
  /** Where several of the step are parked. */
  commandId: string | undefined
  state: ContainerEnd
  /** Everything that was said: the data of the step. */
  said: JsonObject
}

const PARKED_MAX = 1_000

export interface ContainerCallbackDeps {
  databases: Databases
  commands: Pick<Commands, 'list' | 'report'>
}

export async function callBack(
  deps: ContainerCallbackDeps,
  call: ContainerCall,
): Promise<{ commandId: string; outcome: ReportOutcome }> {
  const row = await parkedFor(deps, call)
  const command = {
    executionId: row.execution_id,
    commandId: row.command_key,
    step: row.step_name,
    kind: row.tool_kind,
    // Not the worker that parked it: what that one says does not end it.
    workerId: 'container-callback',
    attempt: row.attempt,
  }
  const outcomes = await deps.commands.report(command, reportsOf(call))
  return { commandId: row.command_key, outcome: outcomes.at(-1)! }
}

async function parkedFor(
  { databases, commands }: ContainerCallbackDeps,
  { executionId, step, commandId }: ContainerCall,
): Promise<ShownCommand> {
  const all = await commands.list({ executionId, status: 'PARKED', after: '0', limit: PARKED_MAX })
  // One that waits for a child playbook is ended by that alone.
  const parked = all.filter(
    (row) =>
      row.step_name === step && row.tool_kind !== 'playbook' && (commandId ?? row.command_key) === row.command_key,
  )
  const [first, second] = parked
  if (first !== undefined && second === undefined) return first
  if (first !== undefined) {
    throw new CpError(
      'conflict',
      `${parked.length} commands of step ${step} wait for a call-back; say which by command_id, such as ${first.command_key}`,
    )
  }
  if ((await getExecution(databases.of(executionId), executionId)) === undefined) throw noSuchExecution(executionId)
  throw new CpError(
    'conflict',
    `no command of step ${step} of execution ${executionId} waits for a call-back; it was answered, or never parked`,
  )
}

function reportsOf({ state, said }: ContainerCall): WorkerReport[] {
  const kind = ENDS[state]
  if (kind === undefined) {
    const result = { status: 'success', context: { status: 'success', data: said } }
    return [
      { type: 'call.done', status: 'COMPLETED', payload: { call_index: 0, result } },
      { type: 'command.completed', status: 'success', payload: { status: 'success' } },
    ]
  }
  const job = typeof said['job_name'] === 'string' ? ` ${said['job_name']}` : ''
  const why = typeof said['message'] === 'string' ? `: ${said['message']}` : ''
  const message = `the container${job} ${state.replaceAll('_', ' ')}${why}`
  const error = failureJson(new ToolFailure(kind, message, { code: state.toUpperCase() }), 'container')
  return [{ type: 'command.failed', status: 'FAILED', payload: { error }, error: message }]
}
