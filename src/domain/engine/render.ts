// Rendering inside of a decision. A template that cannot be rendered fails its step, and says where it stands.

import type { JsonObject, JsonValue } from '../json/value.js'
import type { Count } from '../playbook/plan.js'
import type { Condition } from '../template/condition.js'
import type { CompiledTree } from '../template/tree.js'
import type { EngineContext } from './engineContext.js'
import { engineError, StepFailure } from './engineError.js'
import { placed } from './placed.js'
import { requireValues } from './references.js'

/** Undefined is null: events hold JSON. */
export function renderTree(tree: CompiledTree, context: EngineContext, pointer: string, passesOn = false): JsonValue {
  requireValues(context, tree.templates, passesOn)
  return placed(pointer, () => tree.value(context)) ?? null
}

export function renderMap(tree: CompiledTree | undefined, context: EngineContext, pointer: string): JsonObject {
  return tree === undefined ? {} : (renderTree(tree, context, pointer) as JsonObject)
}

export function isMet(condition: Condition, context: EngineContext, pointer: string): boolean {
  if (condition.template !== undefined) requireValues(context, [{ template: condition.template }])
  return placed(pointer, () => condition.isMet(context))
}

/** A whole number of at least 1. */
export function renderCount(count: Count, context: EngineContext, pointer: string): number {
  if (typeof count === 'number') return count
  requireValues(context, [{ template: count }])
  const value = placed(pointer, () => count.value(context))
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number)) return Math.max(1, number)
  throw new StepFailure(engineError('template', `${pointer} must give a whole number`))
}
