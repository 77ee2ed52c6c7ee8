// Rendering inside of a decision. A template that cannot be rendered fails its step, and says where it stands.

import type { JsonObject, JsonValue } from '../json/value.js'
import type { Count } from '../playbook/plan.js'
import type { Condition } from '../template/condition.js'
import { TemplateError } from '../template/templateError.js'
import type { CompiledTree } from '../template/tree.js'
import type { EngineContext } from './engineContext.js'
import { engineError, StepFailure } from './engineError.js'
import { placed } from './placed.js'
import { requireValues } from './references.js'

/** Undefined is null: events hold JSON. */
export function renderTree(tree: CompiledTree, context: EngineContext, pointer: string, passesOn = false): JsonValue {
  requireValues(context, tree.templates, passesOn)
  const place = (error: TemplateError): string => placeOf(error, tree, context) ?? pointer
  return placed(place, () => tree.value(context)) ?? null
}

/** Which of the templates says that: each is rendered once more, alone, so that those that succeed cost nothing. */
function placeOf(error: TemplateError, { templates }: CompiledTree, context: EngineContext): string | undefined {
  const says = (render: () => unknown): boolean => {
    try {
      render()
      return false
    } catch (other) {
      return other instanceof TemplateError && other.message === error.message
    }
  }
  const found =
    templates.find(({ template }) => says(() => template.value(context))) ??
    templates.find(({ template }) => says(() => template.textValue(context)))
  return found?.place
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
