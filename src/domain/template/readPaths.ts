// Which parts of the context a template reads, known without rendering it. A path stops at the first index that is not
// written out: everything below counts as read.

import type { Access, Arguments, Expression, Statement } from './syntax.js'

export interface TemplatePath {
  readonly root: string
  readonly keys: readonly string[]
  /** An index computed at render time follows. */
  readonly isOpen: boolean
}

export interface Reads {
  readonly paths: readonly TemplatePath[]
  readonly functions: ReadonlySet<string>
}

export function readsOfExpression(expression: Expression): Reads {
  const collector = new Collector()
  collector.expression(expression, EMPTY)
  return collector
}

export function readsOfStatements(statements: readonly Statement[]): Reads {
  const collector = new Collector()
  collector.body(statements, EMPTY)
  return collector
}

type Bound = ReadonlySet<string>
const EMPTY: Bound = new Set()

// Names set in one branch of an `if` are not surely set behind it: they stay names of the context as well.

class Collector implements Reads {
  readonly paths: TemplatePath[] = []
  readonly functions = new Set<string>()

  body(statements: readonly Statement[], bound: Bound): void {
    const known = new Set(bound)
    for (const statement of statements) this.statement(statement, known)
  }

  private statement(statement: Statement, bound: Set<string>): void {
    switch (statement.type) {
      case 'text':
        return
      case 'output':
        this.expression(statement.expression, bound)
        return
      case 'if':
        for (const { test, body } of statement.branches) {
          this.expression(test, bound)
          this.body(body, bound)
        }
        this.body(statement.otherwise, bound)
        return
      case 'for': {
        this.expression(statement.list, bound)
        const inner = new Set([...bound, ...statement.targets])
        if (statement.filter !== undefined) this.expression(statement.filter, inner)
        this.body(statement.body, new Set([...inner, 'loop']))
        this.body(statement.otherwise, bound)
        return
      }
      case 'set':
        this.expression(statement.value, bound)
        for (const target of statement.targets) bound.add(target)
        return
      case 'capture':
        this.body(statement.body, bound)
        bound.add(statement.target)
    }
  }

  expression(expression: Expression, bound: Bound): void {
    switch (expression.type) {
      case 'literal':
        return
      case 'name':
        this.path(expression.name, [], bound)
        return
      case 'list':
        this.all(expression.items, bound)
        return
      case 'map':
        this.all(expression.entries.flat(), bound)
        return
      case 'call':
        this.functions.add(expression.name)
        this.arguments(expression.args, bound)
        return
      case 'path':
        if (expression.base.type === 'name') this.path(expression.base.name, expression.accesses, bound)
        else this.expression(expression.base, bound)
        for (const access of expression.accesses) this.access(access, bound)
        return
      case 'pipe':
        this.expression(expression.base, bound)
        for (const { args } of expression.stages) this.arguments(args, bound)
        return
      case 'sign':
      case 'not':
        this.expression(expression.operand, bound)
        return
      case 'chain':
      case 'compare':
        this.expression(expression.first, bound)
        this.all(
          expression.rest.map(({ operand }) => operand),
          bound,
        )
        return
      case 'and':
      case 'or':
        this.all(expression.operands, bound)
        return
      case 'conditional':
        this.expression(expression.test, bound)
        this.expression(expression.chosen, bound)
        if (expression.otherwise !== undefined) this.expression(expression.otherwise, bound)
    }
  }

  private all(expressions: readonly Expression[], bound: Bound): void {
    for (const expression of expressions) this.expression(expression, bound)
  }

  private arguments(args: Arguments, bound: Bound): void {
    this.all(args.positional, bound)
    for (const [, value] of args.named) this.expression(value, bound)
  }

  private access(access: Access, bound: Bound): void {
    if (access.type === 'index') this.expression(access.index, bound)
    if (access.type !== 'slice') return
    for (const part of [access.start, access.stop, access.step]) if (part !== undefined) this.expression(part, bound)
  }

  private path(root: string, accesses: readonly Access[], bound: Bound): void {
    if (bound.has(root)) return
    const keys: string[] = []
    let isOpen = false
    for (const access of accesses) {
      const key = keyOfAccess(access)
      isOpen = key === undefined
      if (key === undefined) break
      keys.push(key)
    }
    this.paths.push({ root, keys, isOpen })
  }
}

function keyOfAccess(access: Access): string | undefined {
  if (access.type === 'attribute') return access.name
  if (access.type === 'slice' || access.index.type !== 'literal') return undefined
  const { value } = access.index
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}
