// A command as the worker takes it: what to run, with finished values, and what is still to be rendered where the tool
// runs. Made from the context and meta of a command.issued event.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { ToolFailure } from './toolFailure.js'

export interface ToolCommand {
  readonly executionId: string
  /** `<execution>:<step>:<visit>…`: the same for every attempt. */
  readonly commandId: string
  readonly catalogId: string
  readonly step: string
  readonly attempt: number
  /** The argument that is the item of a loop. */
  readonly itemName: string
  /** Seconds from now until the engine gives the command up; undefined for no such limit. */
  readonly timeoutSeconds: number | undefined
  readonly toolConfig: JsonObject
  readonly args: JsonObject
  /** Roots that deferred templates read. */
  readonly renderContext: JsonObject
  /** Roots of the render context that are data of a step. */
  readonly stepNames: ReadonlySet<string>
  /** Entries of the playbook's keychain that this command may use, as their author wrote them. */
  readonly keychain: readonly JsonObject[]
  /** JSON pointers into {tool_config, args} of texts that are templates. No other text is ever rendered. */
  readonly deferred: readonly string[]
  /** The same for keys of maps; the value behind the key is not meant. */
  readonly deferredKeys: readonly string[]
  /** JSON pointers of `{__ref__}` maps that stand for a stored result. No other map is ever looked up. */
  readonly references: readonly string[]
}

export function readCommand(context: JsonValue, meta: JsonValue): ToolCommand {
  if (!isJsonObject(context) || !isJsonObject(meta)) throw new ToolFailure('config', 'the command has no context')
  const toolConfig = context['tool_config']
  if (!isJsonObject(toolConfig)) throw new ToolFailure('config', 'the command has no tool_config')
  return {
    executionId: textOf(meta['execution_id']),
    commandId: textOf(meta['command_id']),
    catalogId: textOf(meta['catalog_id']),
    step: textOf(meta['step']),
    attempt: numberOf(meta['attempt']) ?? 1,
    itemName: textOf(meta['item_var']),
    timeoutSeconds: numberOf(meta['timeout_seconds']),
    toolConfig,
    args: mapOf(context['args']),
    renderContext: mapOf(context['render_context']),
    stepNames: new Set(textsOf(meta['step_names'])),
    keychain: Array.isArray(context['keychain']) ? context['keychain'].filter(isJsonObject) : [],
    deferred: textsOf(meta['deferred']),
    deferredKeys: textsOf(meta['deferred_keys']),
    references: textsOf(meta['references']),
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'bigint' ? String(value) : ''
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function mapOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
