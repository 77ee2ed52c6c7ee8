// kind: playbook, as a task of a pipeline. Alone it needs no worker: the engine starts it.
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../domain/json/value.js'
import { flagField, mapField, textField } from '../domain/tool/configFields.js'
import { ToolFailure } from '../domain/tool/toolFailure.js'
import type { Children } from './run/children.js'
import type { Tool, ToolRun } from './tool.js'

const TIMEOUT_SECONDS = 300
/** Arguments that belong to the iteration, and not to the child. */
const OF_ITERATION: ReadonlySet<string> = new Set(['iter', '_index', '_total', '_first', '_last', 'loop', 'loop_index'])

export function createPlaybookTool(children: Children): Tool {
  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async (run) => {
      const { config, command, signal } = run
      const path = textField(config, 'path')
      const catalogId = textField(config, 'catalog_id')
      if (path === undefined && catalogId === undefined)
        throw new ToolFailure('config', 'playbook needs path or catalog_id')
      const child = await children.start(
        {
          key: `${command.commandId}/${run.label ?? ''}/${run.startNumber}`,
          parentExecutionId: command.executionId,
          parentCommandId: command.commandId,
          path,
          catalogId,
          version: textField(config, 'version'),
          payload: payloadOf(run),
        },
        signal,
      )
      const returnStep = textField(config, 'return_step') ?? textField(config, 'result_step')
      const returnsResult = flagField(config, false, 'return_result')
      const waits = returnStep !== undefined || returnsResult || flagField(config, false, 'wait')
      const started: JsonObject = { execution_id: child.executionId, path: child.path }
      if (!waits) return { data: { ...started, status: 'started', async: true } }
      const end = await run.whileWaiting(() => children.ended(child.executionId, signal))
      if (end.status !== 'COMPLETED') {
        throw new ToolFailure(
          'child_failed',
          `child ${child.path} (${child.executionId}): ${end.error ?? end.status}`,
          {
            data: { ...started, status: end.status },
          },
        )
      }
      if (returnsResult) return { data: await children.resultOf(child.executionId, returnStep, signal) }
      if (returnStep === undefined)
        return { data: { ...started, status: end.status, duration_ms: end.durationMs ?? null } }
      const result = await children.resultOf(child.executionId, returnStep, signal)
      return { data: withFields({ execution_id: child.executionId, status: end.status, result }, result) }
    },
  }
}

/** args under input under payload, over the input of the step. */
function payloadOf({ config, args, command }: ToolRun): JsonObject {
  const payload: JsonObject = {}
  for (const [name, value] of Object.entries(args)) {
    if (!OF_ITERATION.has(name) && name !== command.itemName) setKey(payload, name, value)
  }
  return { ...payload, ...mapField(config, 'args'), ...mapField(config, 'input'), ...mapField(config, 'payload') }
}

/** Fields of the result beside it, where their names are free. */
function withFields(data: JsonObject, result: JsonValue): JsonObject {
  if (!isJsonObject(result)) return data
  for (const key of Object.keys(result)) if (!Object.hasOwn(data, key)) setKey(data, key, result[key] as JsonValue)
  return data
}
