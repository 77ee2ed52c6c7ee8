// One template, evaluated once: what authors use to try one out.

import type { JsonObject, JsonValue } from '../json/value.js'
import { compileCondition } from './condition.js'
import { compileLoopList } from './loopList.js'
import { PlainContext } from './plainContext.js'
import { renderTree } from './tree.js'

export const TEMPLATE_KINDS = ['value', 'condition', 'loop'] as const
export type TemplateKind = (typeof TEMPLATE_KINDS)[number]

export interface Evaluation {
  readonly kind: TemplateKind
  /** Usually a text; a list or map may hold templates anywhere. */
  readonly template: JsonValue
  readonly context: JsonObject
  /** Roots that are the data of a step. */
  readonly steps?: readonly string[]
}

/** Undefined is answered as null. */
export function evaluateTemplate(evaluation: Evaluation, nowMs: number): JsonValue {
  const { kind, template } = evaluation
  const context = new PlainContext(evaluation.context, new Set(evaluation.steps), nowMs)
  if (kind === 'condition') return compileCondition(template).isMet(context)
  if (kind === 'loop') return compileLoopList(template).items(context)
  return renderTree(template).value(context) ?? null
}
