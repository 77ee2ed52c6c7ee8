// Statements as closures that write to the run's output.

import type { CompileSite } from './compileSite.js'
import { printValue } from './printValue.js'
import { type Evaluate, type Run, type TemplateValue, UNSET } from './run.js'
import type { Scope } from './scope.js'
import type { Statement } from './syntax.js'
import { fault } from './templateError.js'
import { isTrue, itemsOf, kindOf } from './values.js'

export type Emit = (run: Run) => void

export function compileStatements(statements: readonly Statement[], site: CompileSite): Emit {
  const emits = statements.map((statement) => compileStatement(statement, site))
  return (run) => {
    for (const emit of emits) emit(run)
  }
}

function compileStatement(statement: Statement, site: CompileSite): Emit {
  switch (statement.type) {
    case 'text': {
      const { text } = statement
      return (run) => {
        run.write(text)
      }
    }
    case 'output': {
      const evaluate = site.compile(statement.expression, site)
      const { at } = statement
      return (run) => {
        const value = evaluate(run)
        run.at = at
        run.write(printValue(value, run))
      }
    }
    case 'if':
      return compileIf(statement, site)
    case 'for':
      return compileFor(statement, site)
    case 'set': {
      const evaluate = site.compile(statement.value, site)
      const assign = compileTargets(statement.targets, site.scope)
      const { at } = statement
      return (run) => {
        const value = evaluate(run)
        run.at = at
        assign(value, run)
      }
    }
    case 'capture': {
      const body = compileStatements(statement.body, { ...site, scope: site.scope.inner() })
      const slot = site.scope.declare(statement.target)
      return (run) => {
        const before = run.out
        run.out = ''
        body(run)
        run.slots[slot] = run.out
        run.out = before
      }
    }
  }
}

function compileIf(statement: Extract<Statement, { type: 'if' }>, site: CompileSite): Emit {
  const branches = statement.branches.map(({ test, body }) => ({
    test: site.compile(test, site),
    body: compileStatements(body, site),
  }))
  const otherwise = compileStatements(statement.otherwise, site)
  return (run) => {
    for (const { test, body } of branches) {
      if (!isTrue(test(run))) continue
      body(run)
      return
    }
    otherwise(run)
  }
}

function compileTargets(targets: readonly string[], scope: Scope): (value: TemplateValue, run: Run) => void {
  const slots = targets.map((target) => scope.declare(target))
  const [only] = slots
  if (slots.length === 1 && only !== undefined) {
    return (value, run) => {
      run.slots[only] = value
    }
  }
  return (value, run) => {
    if (!Array.isArray(value) || value.length !== slots.length) {
      fault(`${targets.join(', ')} need a list of ${slots.length} values, not ${describe(value)}`)
    }
    slots.forEach((slot, index) => {
      run.slots[slot] = value[index]
    })
  }
}

function describe(value: TemplateValue): string {
  return Array.isArray(value) ? `one of ${value.length}` : kindOf(value)
}

function compileFor(statement: Extract<Statement, { type: 'for' }>, site: CompileSite): Emit {
  const list = site.compile(statement.list, site)
  const inner: CompileSite = { ...site, scope: site.scope.inner() }
  const assign = compileTargets(statement.targets, inner.scope)
  const filter = statement.filter === undefined ? undefined : inner.compile(statement.filter, inner)
  const loopSlot = inner.scope.declare('loop')
  const body = compileStatements(statement.body, inner)
  const otherwise = compileStatements(statement.otherwise, { ...site, scope: site.scope.inner() })
  const own = inner.scope.own()
  const clear = (run: Run) => {
    for (const slot of own) run.slots[slot] = UNSET
  }
  const { at } = statement
  return (run) => {
    const value = list(run)
    run.at = at
    const items = chosenItems(itemsOf(value, run, 'a loop'), filter, assign, clear, run)
    const { length } = items
    for (let index = 0; index < length; index++) {
      run.step()
      clear(run)
      run.at = at
      assign(items[index], run)
      run.slots[loopSlot] = loopObject(index, length)
      body(run)
    }
    clear(run)
    if (length === 0) otherwise(run)
  }
}

function chosenItems(
  items: readonly TemplateValue[],
  filter: Evaluate | undefined,
  assign: (value: TemplateValue, run: Run) => void,
  clear: Emit,
  run: Run,
): readonly TemplateValue[] {
  if (filter === undefined) return items
  return items.filter((item) => {
    run.step()
    clear(run)
    assign(item, run)
    return isTrue(filter(run))
  })
}

function loopObject(index: number, length: number): TemplateValue {
  return {
    index: index + 1,
    index0: index,
    revindex: length - index,
    revindex0: length - index - 1,
    first: index === 0,
    last: index === length - 1,
    length,
  }
}
