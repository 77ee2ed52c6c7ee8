// Expressions as closures. Everything that can be known from the text alone (names of filters, the arguments they take,
// which variable a name means) is decided here once; a render only follows the closures.

import { integerValue, isJsonObject, type JsonObject, setKey } from '../json/value.js'
import { asNumber, calculate, negate } from './arithmetic.js'
import { compileComparison } from './compileComparison.js'
import { bindArguments, type CompileSite, NOTHING } from './compileSite.js'
import { bindFilter } from './filters/filterTable.js'
import { FUNCTIONS } from './functions.js'
import { checkList, checkText } from './limits.js'
import { printValue } from './printValue.js'
import { type Evaluate, type Run, type TemplateValue, UNSET } from './run.js'
import { sliceValue } from './sliceValue.js'
import {
  type Access,
  type Arguments,
  type ChainOperator,
  type Expression,
  isKey,
  type Link,
  type Stage,
} from './syntax.js'
import { fault, templateError } from './templateError.js'
import { TESTS } from './tests.js'
import { attributeOf, isTrue, itemOf, kindOf } from './values.js'

export function compileExpression(expression: Expression, site: CompileSite): Evaluate {
  switch (expression.type) {
    case 'literal': {
      const { value } = expression
      return () => value
    }
    case 'name':
      return compileName(expression.name, site)
    case 'list':
      return compileList(expression.items, site)
    case 'map':
      return compileMap(expression, site)
    case 'call':
      return compileCall(expression.name, expression.args, expression.at, site)
    case 'path':
      return compilePath(expression, site)
    case 'pipe':
      return compilePipe(expression, site)
    case 'sign':
      return compileSign(expression, site)
    case 'chain':
      return compileChain(expression.first, expression.rest, site)
    case 'compare':
      return compileComparison(expression.first, expression.rest, site)
    case 'and':
    case 'or':
      return compileLogic(expression.operands, expression.type === 'and', site)
    case 'not': {
      const operand = compileExpression(expression.operand, site)
      return (run) => !isTrue(operand(run))
    }
    case 'conditional': {
      const test = compileExpression(expression.test, site)
      const chosen = compileExpression(expression.chosen, site)
      const otherwise = expression.otherwise === undefined ? undefined : compileExpression(expression.otherwise, site)
      return (run) => (isTrue(test(run)) ? chosen(run) : otherwise?.(run))
    }
  }
}

function compileName(name: string, site: CompileSite): Evaluate {
  const slots = site.scope.slotsOf(name)
  if (slots.length === 0) return (run) => run.context.get(name)
  return (run) => {
    for (const slot of slots) {
      const value = run.slots[slot]
      if (value !== UNSET) return value as TemplateValue
    }
    return run.context.get(name)
  }
}

function compileList(items: readonly Expression[], site: CompileSite): Evaluate {
  const evaluates = items.map((item) => compileExpression(item, site))
  return (run) => {
    run.charge(evaluates.length)
    return evaluates.map((evaluate) => evaluate(run) ?? null)
  }
}

function compileMap(expression: Extract<Expression, { type: 'map' }>, site: CompileSite): Evaluate {
  const entries = expression.entries.map(
    ([key, value]) => [compileExpression(key, site), compileExpression(value, site)] as const,
  )
  return (run) => {
    const map: JsonObject = {}
    run.charge(entries.length)
    for (const [key, value] of entries) setKey(map, mapKey(key(run), run), value(run) ?? null)
    return map
  }
}

function mapKey(key: TemplateValue, run: Run): string {
  const kind = kindOf(key)
  return kind === 'list' || kind === 'map' ? fault(`a ${kind} cannot be a key`) : printValue(key, run)
}

function compileCall(name: string, args: Arguments, at: number, site: CompileSite): Evaluate {
  const known = FUNCTIONS.get(name)
  if (known === undefined) throw templateError(`there is no function ${name}`, site.text, at)
  const places = bindArguments(name, known.params, known.required, args, at, site)
  return (run) => {
    const values = places.map((place) => place(run))
    run.at = at
    return known.call(values, run)
  }
}

function compilePath(expression: Extract<Expression, { type: 'path' }>, site: CompileSite): Evaluate {
  const { base, accesses } = expression
  const root = base.type === 'name' && site.scope.slotsOf(base.name).length === 0 ? base.name : undefined
  let evaluate = compileExpression(base, site)
  // A few accesses become one closure each, nested: the fastest form for the paths people write.
  const quick = accesses.slice(0, QUICK_ACCESSES)
  for (const [index, access] of quick.entries()) {
    evaluate = compileStepResult(evaluate, root, accesses, index) ?? compileAccess(evaluate, access, site)
  }
  const rest = accesses.slice(QUICK_ACCESSES).map((access) => compileAccess(LAST_VALUE, access, site))
  if (rest.length === 0) return evaluate
  const first = evaluate
  return (run) => {
    let value = first(run)
    for (const access of rest) {
      const kept = run.piped
      run.piped = value
      value = access(run)
      run.piped = kept
    }
    return value
  }
}

const QUICK_ACCESSES = 16
const LAST_VALUE: Evaluate = (run) => run.piped

/** Words for the data of a step; `context` is where NoETL keeps it in events, and playbooks read it there. */
const NAMES_OF_DATA = ['result', 'data', 'context']

const FACTS = ['status', 'error'] as const

/** `<step>.result`, `.data`, `.context` and `steps.<step>.result` are the data of the step when it has no such key. */
function compileStepResult(
  base: Evaluate,
  root: string | undefined,
  accesses: readonly Access[],
  index: number,
): Evaluate | undefined {
  if (root === undefined) return undefined
  const fact = index === 0 ? FACTS.find((key) => isKey(accesses[0] as Access, key)) : undefined
  if (fact !== undefined) {
    return (run) => {
      const value = base(run)
      return isJsonObject(value) || value === undefined ? attributeOf(value, fact) : run.context.factOf?.(root, fact)
    }
  }
  const name = NAMES_OF_DATA.find((key) => isKey(accesses[index] as Access, key))
  if (name === undefined) return undefined
  if (index === 1 && root === 'steps' && name === 'result') {
    return (run) => {
      const value = base(run)
      const result = attributeOf(value, 'result')
      return result === undefined ? attributeOf(value, 'data') : result
    }
  }
  if (index !== 0) return undefined
  return (run) => {
    const value = base(run)
    const data = attributeOf(value, name)
    return data === undefined && run.context.isStep(root) ? value : data
  }
}

function compileAccess(base: Evaluate, access: Access, site: CompileSite): Evaluate {
  if (access.type === 'attribute') return compileKey(base, access.name)
  const { at } = access
  if (access.type === 'index') {
    if (access.index.type === 'literal') {
      const { value: index } = access.index
      if (typeof index === 'string') return compileTextKey(base, index)
      return (run) => itemOf(base(run), index, run)
    }
    const index = compileExpression(access.index, site)
    return (run) => {
      const value = base(run)
      const key = index(run)
      run.at = at
      return itemOf(value, key, run)
    }
  }
  const parts = [access.start, access.stop, access.step].map((part) =>
    part === undefined ? NOTHING : compileExpression(part, site),
  )
  return (run) => {
    const value = base(run)
    const [start, stop, step] = parts.map((part) => part(run))
    run.at = at
    return sliceValue(value, start, stop, step, run)
  }
}

const INDEX = /^\d{1,15}$/

function compileKey(base: Evaluate, name: string): Evaluate {
  // `rows.0`: a list has numbers, a map has texts.
  if (INDEX.test(name)) {
    const index = integerValue(BigInt(name))
    return (run) => itemOf(base(run), index, run)
  }
  return compileTextKey(base, name)
}

/** `rows["0"]` is no place in a list, whatever the text looks like. */
function compileTextKey(base: Evaluate, name: string): Evaluate {
  // A name that every object inherits must be looked up with care; all others cannot reach a prototype.
  if (name in Object.prototype) return (run) => attributeOf(base(run), name)
  return (run) => {
    const value = base(run)
    return isJsonObject(value) ? value[name] : undefined
  }
}

function compilePipe(expression: Extract<Expression, { type: 'pipe' }>, site: CompileSite): Evaluate {
  const base = compileExpression(expression.base, site)
  const stages = expression.stages.map((stage) => compileStage(stage, site))
  const [first] = stages
  if (stages.length === 1 && first !== undefined) return (run) => first(base(run), run)
  return (run) => {
    let value = base(run)
    for (const stage of stages) value = stage(value, run)
    return value
  }
}

type Apply = (value: TemplateValue, run: Run) => TemplateValue

function compileStage(stage: Stage, site: CompileSite): Apply {
  if (stage.type === 'filter') return bindFilter(stage, site)
  const { name, args, at, isNegated } = stage
  const test = TESTS.get(name)
  if (test === undefined) throw templateError(`there is no test ${name}`, site.text, at)
  const given = args.positional.length + args.named.length
  if (given !== test.params || args.named.length > 0) {
    throw templateError(`the test ${name} takes ${test.params} arguments, not ${given}`, site.text, at)
  }
  const argument = args.positional[0] === undefined ? NOTHING : compileExpression(args.positional[0], site)
  return (value, run) => {
    const other = argument(run)
    run.at = at
    return test.ask(value, other, run) !== isNegated
  }
}

function compileSign(expression: Extract<Expression, { type: 'sign' }>, site: CompileSite): Evaluate {
  const operand = compileExpression(expression.operand, site)
  const { at } = expression
  if (expression.operator === '-') {
    return (run) => {
      const value = operand(run)
      run.at = at
      return negate(value)
    }
  }
  return (run) => {
    const value = operand(run)
    run.at = at
    return asNumber(value) ?? fault(`+ is not possible on ${kindOf(value)}`)
  }
}

function compileChain(first: Expression, rest: readonly Link<ChainOperator>[], site: CompileSite): Evaluate {
  const start = compileExpression(first, site)
  const links = rest.map(({ operator, operand, at }) => ({ operator, operand: compileExpression(operand, site), at }))
  return (run) => {
    let value = start(run)
    for (const { operator, operand, at } of links) {
      const right = operand(run)
      run.at = at
      if (operator === '~') value = join(printValue(value, run), printValue(right, run), run)
      else if (operator === '+') value = add(value, right, run)
      else value = calculate(operator, value, right)
    }
    return value
  }
}

function add(left: TemplateValue, right: TemplateValue, run: Run): TemplateValue {
  if (typeof left === 'string' && typeof right === 'string') return join(left, right, run)
  if (Array.isArray(left) && Array.isArray(right)) {
    checkList(left.length + right.length)
    run.charge(left.length + right.length)
    return [...left, ...right]
  }
  return calculate('+', left, right)
}

function join(left: string, right: string, run: Run): string {
  const length = left.length + right.length
  checkText(length)
  run.chargeText(length)
  return left + right
}

function compileLogic(operands: readonly Expression[], isAnd: boolean, site: CompileSite): Evaluate {
  const evaluates = operands.map((operand) => compileExpression(operand, site))
  const last = evaluates.length - 1
  return (run) => {
    for (let index = 0; index < last; index++) {
      const value = (evaluates[index] as Evaluate)(run)
      if (isTrue(value) !== isAnd) return value
    }
    return (evaluates[last] as Evaluate)(run)
  }
}
