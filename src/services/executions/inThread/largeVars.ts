// Variables that are too large for the main loop: read, cleaned of secrets and written as the parts of their event.
import type { EventRecord, WrittenEvent } from '../../../domain/events/eventRecord.js'
import { takeOutParts } from '../../../domain/events/largeEvent.js'
import { VARS_PARTS, variablesIn } from '../../../domain/executions/variables.js'
import { readJsonBody } from '../../../domain/json/body.js'
import type { Schema } from '../../../domain/json/schema.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'

export interface LargeVarsInput {
  bytes: Uint8Array
  schema: Schema
  meta: Record<string, string>
  /** Further names of secrets; null hides nothing. */
  secretNames: readonly string[] | null
}

export function largeVars(input: LargeVarsInput): { count: number; written: WrittenEvent } {
  const vars = variablesIn(readJsonBody(input.bytes, input.schema) as JsonObject)
  const { context, result } = VARS_PARTS
  const event = { context: { ...context, vars }, result, meta: input.meta, eventType: '' }
  const rules = input.secretNames === null ? null : secretRules(input.secretNames)
  return { count: Object.keys(vars).length, written: takeOutParts(event as unknown as EventRecord, rules, false) }
}
