// Comparisons, which chain: `1 < n < 5`. `event.name` has further names in the engine, so a comparison with it is one of
// its own.

import type { JsonValue } from '../json/value.js'
import { isEqual, isOrdered } from './compareValues.js'
import type { CompileSite } from './compileSite.js'
import { isContained } from './contains.js'
import type { Evaluate, Run, TemplateValue } from './run.js'
import { type Access, type CompareOperator, type Expression, isKey, type Link } from './syntax.js'

export function compileComparison(
  first: Expression,
  rest: readonly Link<CompareOperator>[],
  site: CompileSite,
): Evaluate {
  const start = site.compile(first, site)
  const links = rest.map(({ operator, operand, at }, index) => ({
    compare: comparer(operator, index === 0 ? first : (rest[index - 1]?.operand as Expression), operand),
    operand: site.compile(operand, site),
    at,
  }))
  return (run) => {
    let left = start(run)
    for (const { compare, operand, at } of links) {
      const right = operand(run)
      run.at = at
      if (!compare(left, right, run)) return false
      left = right
    }
    return true
  }
}

type Compare = (left: TemplateValue, right: TemplateValue, run: Run) => boolean

function comparer(operator: CompareOperator, left: Expression, right: Expression): Compare {
  const same = isEventName(left) || isEventName(right) ? isEqualEventName : isEqual
  switch (operator) {
    case '==':
      return same
    case '!=':
      return (a, b, run) => !same(a, b, run)
    case 'in':
      return isEventName(left) ? isEventNameContained : isContained
    case 'not in':
      return isEventName(left)
        ? (a, b, run) => !isEventNameContained(a, b, run)
        : (a, b, run) => !isContained(a, b, run)
    default:
      return (a, b, run) => isOrdered(operator, a, b, run)
  }
}

function isEventName(expression: Expression): boolean {
  if (expression.type !== 'path' || expression.base.type !== 'name' || expression.base.name !== 'event') return false
  return expression.accesses.length === 1 && isKey(expression.accesses[0] as Access, 'name')
}

function isEqualEventName(left: TemplateValue, right: TemplateValue, run: Run): boolean {
  if (isEqual(left, right, run)) return true
  const { isEventNamed } = run.context
  if (isEventNamed === undefined || typeof left !== 'string' || typeof right !== 'string') return false
  return isEventNamed(left, right) || isEventNamed(right, left)
}

function isEventNameContained(item: TemplateValue, container: TemplateValue, run: Run): boolean {
  if (!Array.isArray(container)) return isContained(item, container, run)
  run.charge(container.length)
  return container.some((one: JsonValue) => isEqualEventName(item, one, run))
}
