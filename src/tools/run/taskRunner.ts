// Runs one task once: finishes its configuration, finds its tool, limits its time, and turns whatever happens into an
// outcome. Never throws for what a tool does; only a cancelled command ends the pipeline from here.

import { storableJson } from '../../domain/events/storableText.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { mapField, secondsOf } from '../../domain/tool/configFields.js'
import type { PipelineContext } from '../../domain/tool/pipelineContext.js'
import type { TaskOutcome } from '../../domain/tool/taskOutcome.js'
import type { ToolCommand } from '../../domain/tool/toolCommand.js'
import { failureJson, ToolFailure, toToolFailure } from '../../domain/tool/toolFailure.js'
import type { Clock } from '../../runtime/clock.js'
import { traced } from '../../runtime/tracing.js'
import type { Auth } from '../credentials/auth.js'
import type { Keychain } from '../credentials/keychain.js'
import { withinTime } from '../timeLimit.js'
import type { OutputStream, Tool, ToolAnswer } from '../tool.js'
import { renderTask, resolveReferences } from './renderTask.js'
import type { ResultStore } from './resultStore.js'
import type { Task } from './tasks.js'

export interface TaskSurroundings {
  readonly command: ToolCommand
  readonly auth: Auth
  readonly keychain: Keychain
  readonly results: ResultStore
  readonly clock: Clock
  readonly signal: AbortSignal
  toolOf(kind: string): Tool
  readonly onOutput: ((stream: OutputStream, chunk: Buffer) => void) | undefined
  whileWaiting<T>(work: () => Promise<T>): Promise<T>
}

export interface RunPlace {
  /** Undefined for the one tool of a step. */
  readonly label: string | undefined
  /** 1 for the first run, and again after a jump. */
  readonly runNumber: number
  /** Counts on after a jump. */
  readonly startNumber: number
}

export interface TaskRun {
  readonly outcome: TaskOutcome
  /** Undefined when it succeeded. */
  readonly failure: ToolFailure | undefined
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | undefined
}

export async function runTask(
  task: Task,
  place: RunPlace,
  context: PipelineContext,
  around: TaskSurroundings,
): Promise<TaskRun> {
  const { runNumber } = place
  const began = around.clock.monotonic()
  const durationMs = (): number => Math.round(around.clock.monotonic() - began)
  try {
    const attributes = { 'noetl.tool': task.kind, 'noetl.run': runNumber }
    const answer = await traced('noetl.tool', { inherit: true, attributes }, () =>
      perform(task, place, context, around),
    )
    const data = storableJson(answer.data)
    return {
      outcome: { data, error: null, http: answer.http, attempt: runNumber, durationMs: durationMs() },
      failure: undefined,
      stdout: answer.stdout ?? '',
      stderr: answer.stderr ?? '',
      exitCode: answer.exitCode,
    }
  } catch (error) {
    const failure = toToolFailure(error)
    const { data = null, http, stdout = '', stderr = '', exitCode } = failure.facts
    return {
      outcome: {
        data: storableJson(data),
        error: failureJson(failure, task.kind),
        http,
        attempt: runNumber,
        durationMs: durationMs(),
      },
      failure,
      stdout,
      stderr,
      exitCode,
    }
  }
}

async function perform(
  task: Task,
  { label, startNumber }: RunPlace,
  context: PipelineContext,
  around: TaskSurroundings,
): Promise<ToolAnswer> {
  const { command, keychain, results, signal } = around
  const tool = around.toolOf(task.kind)
  const referred = await resolveReferences(task.config, task.pointer, command.references, results, signal)
  const config = await renderTask(referred, task.pointer, task.kind, command, context, keychain)
  const ms = timeoutMs(config, tool)
  const args = await argsOf(config, context, around)
  const giveBack = await tool.places?.take(signal)
  try {
    return await withinTime({ parent: signal, ms, what: task.kind }, (limited) =>
      tool.run({
        config,
        args,
        variables: { ...command.renderContext, execution_id: command.executionId, step: command.step },
        command,
        label,
        startNumber,
        signal: limited,
        timeoutMs: ms,
        auth: around.auth,
        onOutput: around.onOutput,
        whileWaiting: around.whileWaiting,
      }),
    )
  } finally {
    giveBack?.()
  }
}

async function argsOf(config: JsonObject, context: PipelineContext, around: TaskSurroundings): Promise<JsonObject> {
  const { command, keychain, results, signal } = around
  const referred = await resolveReferences(command.args, '/args', command.references, results, signal)
  const args = await renderTask(referred, '/args', '', command, context, keychain)
  const own = config['input'] ?? config['args']
  return isJsonObject(own) ? { ...args, ...own } : args
}

function timeoutMs(config: JsonObject, tool: Tool): number {
  const spec = mapField(config, 'spec')
  const wanted = [config['timeout'], config['timeout_seconds'], spec?.['timeout']].find(
    (value) => value !== undefined && value !== null && !isJsonObject(value),
  )
  const seconds = wanted === undefined ? tool.timeoutSeconds : secondsOf(wanted, 'timeout')
  if (seconds <= 0) throw new ToolFailure('config', 'timeout must be more than 0')
  return seconds * 1000
}
