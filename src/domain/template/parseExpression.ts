// Expressions, from loosest to tightest: conditional, or, and, not, comparison, + -, ~, * / // %, **, sign, filters and
// tests, postfix. A filter or test behind a signed value applies to the signed value, as in the template languages this
// one follows.

import { NESTING_MAX } from './limits.js'
import type { Access, Arguments, ChainOperator, CompareOperator, Expression, Link, Stage } from './syntax.js'
import { TokenCursor } from './tokenCursor.js'

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
  ['null', null],
])

// Nothing takes as many; it keeps the look for names given twice short.
const ARGUMENTS_MAX = 100

const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else', 'elif'])

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])
const LEVELS: readonly ReadonlySet<string>[] = [
  new Set(['+', '-']),
  new Set(['~']),
  new Set(['*', '/', '//', '%']),
  new Set(['**']),
]

export class ExpressionParser extends TokenCursor {
  private depth = 0
  private conditionals = 0

  /** A name that may be assigned to. */
  target(): string {
    const { kind, text } = this.current
    if (kind !== 'name' || CONSTANTS.has(text) || RESERVED.has(text)) this.unexpected('a name')
    this.index++
    return text
  }

  private nested<T>(parse: () => T): T {
    if (++this.depth > NESTING_MAX) this.fail(`nested more than ${NESTING_MAX} levels deep`)
    const result = parse()
    this.depth--
    return result
  }

  expression(): Expression {
    return this.nested(() => {
      let expression = this.withoutCondition()
      while (this.skipWord('if')) {
        const test = this.or()
        const otherwise = this.skipWord('else') ? this.expression() : undefined
        expression = this.nestedNode({ type: 'conditional', test, chosen: expression, otherwise })
      }
      return expression
    })
  }

  /** `x if a if b if c` nests to the left; the nest counts although it is read in a loop. */
  private nestedNode(expression: Expression): Expression {
    this.conditionals++
    if (this.conditionals > NESTING_MAX) this.fail(`more than ${NESTING_MAX} conditional expressions`)
    return expression
  }

  /** What stands where an `if` belongs to somebody else. */
  withoutCondition(): Expression {
    return this.or()
  }

  /** One expression, or several with commas between: a list. */
  expressionList(): Expression {
    const { at } = this.current
    const first = this.expression()
    if (!this.isOperator(',')) return first
    const items = [first]
    while (this.skipOperator(',')) {
      if (this.current.kind === 'end') break
      items.push(this.expression())
    }
    return { type: 'list', items, at }
  }

  private or(): Expression {
    const operands = [this.and()]
    while (this.skipWord('or')) operands.push(this.and())
    return operands.length === 1 ? (operands[0] as Expression) : { type: 'or', operands }
  }

  private and(): Expression {
    const operands = [this.not()]
    while (this.skipWord('and')) operands.push(this.not())
    return operands.length === 1 ? (operands[0] as Expression) : { type: 'and', operands }
  }

  private not(): Expression {
    if (!this.skipWord('not')) return this.comparison()
    return { type: 'not', operand: this.nested(() => this.not()) }
  }

  private comparison(): Expression {
    const first = this.chain(0)
    const rest: Link<CompareOperator>[] = []
    for (;;) {
      const { at } = this.current
      const operator = this.comparisonOperator()
      if (operator === undefined) break
      rest.push({ operator, operand: this.chain(0), at })
    }
    return rest.length === 0 ? first : { type: 'compare', first, rest }
  }

  private comparisonOperator(): CompareOperator | undefined {
    const { kind, text } = this.current
    if (kind === 'operator' && COMPARISONS.has(text)) {
      this.index++
      return text as CompareOperator
    }
    if (this.skipWord('in')) return 'in'
    if (!this.isWord('not')) return undefined
    this.index++
    this.expectWord('in')
    return 'not in'
  }

  private chain(level: number): Expression {
    const operators = LEVELS[level]
    if (operators === undefined) return this.signed(true)
    const first = this.chain(level + 1)
    const rest: Link<ChainOperator>[] = []
    while (this.current.kind === 'operator' && operators.has(this.current.text)) {
      const { text, at } = this.current
      this.index++
      rest.push({ operator: text as ChainOperator, operand: this.chain(level + 1), at })
    }
    return rest.length === 0 ? first : { type: 'chain', first, rest }
  }

  private signed(withStages: boolean): Expression {
    const { at } = this.current
    let expression: Expression
    if (this.isOperator('-') || this.isOperator('+')) {
      const operator = this.current.text as '-' | '+'
      this.index++
      expression = { type: 'sign', operator, operand: this.nested(() => this.signed(false)), at }
    } else {
      expression = this.postfix(this.primary())
    }
    return withStages ? this.piped(expression) : expression
  }

  private postfix(base: Expression): Expression {
    const accesses: Access[] = []
    for (;;) {
      const { at } = this.current
      if (this.skipOperator('.')) accesses.push({ type: 'attribute', name: this.attributeName(), at })
      else if (this.skipOperator('[')) accesses.push(this.bracket(at))
      else if (this.isOperator('(')) this.fail('only functions can be called; use a filter instead of a method')
      else break
    }
    return accesses.length === 0 ? base : { type: 'path', base, accesses }
  }

  private attributeName(): string {
    const { kind, text, value } = this.current
    this.index++
    if (kind === 'name') return text
    if (kind === 'literal' && (typeof value === 'number' || typeof value === 'bigint')) return String(value)
    this.index--
    return this.unexpected('a name')
  }

  private bracket(at: number): Access {
    const start = this.isOperator(':') ? undefined : this.expression()
    if (!this.skipOperator(':')) {
      if (this.isOperator(',')) this.fail('one index only')
      this.expectOperator(']')
      return { type: 'index', index: start as Expression, at }
    }
    const isEmpty = () => this.isOperator(':') || this.isOperator(']')
    const stop = isEmpty() ? undefined : this.expression()
    const step = this.skipOperator(':') && !this.isOperator(']') ? this.expression() : undefined
    this.expectOperator(']')
    return { type: 'slice', start, stop, step, at }
  }

  private piped(base: Expression): Expression {
    const stages: Stage[] = []
    for (;;) {
      const { at } = this.current
      if (this.skipOperator('|'))
        stages.push({ type: 'filter', name: this.stageName(), args: this.stageArguments(), at })
      else if (this.skipWord('is')) stages.push(this.test(at))
      else break
    }
    return stages.length === 0 ? base : { type: 'pipe', base, stages }
  }

  private stageName(): string {
    const { kind, text } = this.current
    if (kind !== 'name') return this.unexpected('a name')
    this.index++
    return text
  }

  private stageArguments(): Arguments {
    return this.isOperator('(') ? this.arguments() : NO_ARGUMENTS
  }

  private test(at: number): Stage {
    const isNegated = this.skipWord('not')
    const name = this.stageName()
    if (this.isOperator('(')) return { type: 'test', name, args: this.arguments(), isNegated, at }
    if (!this.startsArgument()) return { type: 'test', name, args: NO_ARGUMENTS, isNegated, at }
    const operand = this.nested(() => this.signed(false))
    return { type: 'test', name, args: { positional: [operand], named: [] }, isNegated, at }
  }

  /** `is divisibleby 3`: an argument without parentheses. */
  private startsArgument(): boolean {
    const { kind, text } = this.current
    if (kind === 'literal') return true
    if (kind === 'name') return !RESERVED.has(text)
    return kind === 'operator' && (text === '[' || text === '{')
  }

  private arguments(): Arguments {
    this.expectOperator('(')
    const positional: Expression[] = []
    const named: [string, Expression][] = []
    while (!this.skipOperator(')')) {
      if (positional.length + named.length > 0) {
        this.expectOperator(',')
        if (this.skipOperator(')')) break
      }
      const next = this.tokens[this.index + 1]
      if (this.current.kind === 'name' && next?.kind === 'operator' && next.text === '=') {
        const name = this.target()
        if (named.length > ARGUMENTS_MAX || named.some(([known]) => known === name)) this.fail(`${name} is given twice`)
        this.index++
        named.push([name, this.expression()])
      } else if (named.length > 0) {
        this.fail('an argument without a name behind one with a name')
      } else {
        positional.push(this.expression())
      }
    }
    return { positional, named }
  }

  private primary(): Expression {
    const { kind, text, at } = this.current
    if (kind === 'literal') return this.literal()
    if (kind === 'name') {
      if (RESERVED.has(text)) return this.unexpected('a value')
      this.index++
      const constant = CONSTANTS.get(text)
      if (constant !== undefined) return { type: 'literal', value: constant }
      return this.isOperator('(')
        ? { type: 'call', name: text, args: this.arguments(), at }
        : { type: 'name', name: text, at }
    }
    if (this.skipOperator('(')) return this.parenthesised(at)
    if (this.skipOperator('[')) return this.list(at, ']')
    if (this.skipOperator('{')) return this.map(at)
    return this.unexpected('a value')
  }

  /** Texts that follow each other are one text. */
  private literal(): Expression {
    let { value } = this.current
    this.index++
    while (typeof value === 'string' && this.current.kind === 'literal' && typeof this.current.value === 'string') {
      value += this.current.value
      this.index++
    }
    return { type: 'literal', value }
  }

  private parenthesised(at: number): Expression {
    if (this.skipOperator(')')) return { type: 'list', items: [], at }
    const first = this.expression()
    if (this.skipOperator(')')) return first
    this.expectOperator(',')
    const { items } = this.list(at, ')') as { items: readonly Expression[] }
    return { type: 'list', items: [first, ...items], at }
  }

  private list(at: number, close: string): Expression {
    const items: Expression[] = []
    while (!this.skipOperator(close)) {
      if (items.length > 0) {
        this.expectOperator(',')
        if (this.skipOperator(close)) break
      }
      items.push(this.expression())
    }
    return { type: 'list', items, at }
  }

  private map(at: number): Expression {
    const entries: [Expression, Expression][] = []
    while (!this.skipOperator('}')) {
      if (entries.length > 0) {
        this.expectOperator(',')
        if (this.skipOperator('}')) break
      }
      const key = this.expression()
      this.expectOperator(':')
      entries.push([key, this.expression()])
    }
    return { type: 'map', entries, at }
  }
}

export const NO_ARGUMENTS: Arguments = { positional: [], named: [] }
