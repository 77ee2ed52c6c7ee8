// A template, compiled once and rendered often. One `{{ expression }}` alone gives the value itself, with its type. Text
// with more around it is put together and read again only if the whole is plainly JSON. Text without tags is never touched.

import { parseJson } from '../json/parse.js'
import type { JsonValue } from '../json/value.js'
import { compileExpression } from './compileExpression.js'
import { compileStatements, type Emit } from './compileStatements.js'
import { checkInteger } from './limits.js'
import { measureValue } from './measureValue.js'
import { hasTags, parseExpressionText, parseTemplate } from './parseTemplate.js'
import { printValue } from './printValue.js'
import { type Reads, readsOfExpression, readsOfStatements, type TemplatePath } from './readPaths.js'
import { type Evaluate, Run, type Slot, type TemplateContext, type TemplateValue, UNSET } from './run.js'
import { Scope } from './scope.js'
import type { Access, Expression, Statement } from './syntax.js'
import { Fault, type TemplateError, templateError } from './templateError.js'

export interface TemplateOptions {
  /** The text is code of another language: what cannot be read as a tag stays as it is. */
  readonly isCode?: boolean
}

export class Template {
  private readonly evaluate: Evaluate | undefined
  private readonly emit: Emit | undefined
  private readonly slotCount: number
  /** Whether a list or map in the result may have been made here. */
  private readonly builds: boolean
  /** What the template reads. */
  readonly paths: readonly TemplatePath[]
  readonly functions: ReadonlySet<string>
  /** Tags of a code that were left as text. */
  readonly warnings: readonly TemplateError[]

  private constructor(
    readonly text: string,
    source: { expression?: Expression; statements?: readonly Statement[] },
    reads: Reads,
    warnings: readonly TemplateError[],
  ) {
    const counter = { slots: 0 }
    const site = { text, scope: new Scope(counter), compile: compileExpression }
    this.evaluate = source.expression === undefined ? undefined : compileExpression(source.expression, site)
    this.emit = source.statements === undefined ? undefined : compileStatements(source.statements, site)
    this.slotCount = counter.slots
    this.builds = source.expression !== undefined && !isPlainPath(source.expression)
    this.paths = reads.paths
    this.functions = reads.functions
    this.warnings = warnings
  }

  /** A text with tags; undefined for text without. */
  static compile(text: string, options: TemplateOptions = {}): Template | undefined {
    if (!hasTags(text)) return undefined
    const { statements, warnings } = parseTemplate(text, options.isCode ?? false)
    const expression = loneExpression(statements)
    if (expression === undefined) return new Template(text, { statements }, readsOfStatements(statements), warnings)
    return new Template(text, { expression, statements }, readsOfExpression(expression), warnings)
  }

  /** An expression without braces, as conditions are written. */
  static compileExpression(text: string): Template {
    const expression = parseExpressionText(text)
    return new Template(text, { expression }, readsOfExpression(expression), [])
  }

  /** The typed value; undefined when there is none. */
  value(context: TemplateContext): TemplateValue {
    const run = this.start(context)
    try {
      if (this.evaluate === undefined) return retyped(this.written(run))
      const value = this.evaluate(run)
      if (this.builds && typeof value === 'object' && value !== null) measureValue(value)
      return value
    } catch (error) {
      throw this.placed(error, run)
    }
  }

  /** The text, never typed again: for code, queries, addresses. */
  textValue(context: TemplateContext): string {
    const run = this.start(context)
    try {
      if (this.emit !== undefined) return this.written(run)
      return printValue((this.evaluate as Evaluate)(run), run)
    } catch (error) {
      throw this.placed(error, run)
    }
  }

  private written(run: Run): string {
    ;(this.emit as Emit)(run)
    return run.out
  }

  private start(context: TemplateContext): Run {
    return new Run(context, this.slotCount === 0 ? NO_SLOTS : new Array<Slot>(this.slotCount).fill(UNSET))
  }

  private placed(error: unknown, run: Run): unknown {
    return error instanceof Fault ? templateError(error.message, this.text, run.at) : error
  }
}

const NO_SLOTS: Slot[] = []

function isPlainPath(expression: Expression): boolean {
  if (expression.type === 'name') return true
  return expression.type === 'path' && expression.base.type === 'name' && !expression.accesses.some(isSlice)
}

function isSlice({ type }: Access): boolean {
  return type === 'slice'
}

function loneExpression(statements: readonly Statement[]): Expression | undefined {
  let found: Expression | undefined
  for (const statement of statements) {
    if (statement.type === 'text' && statement.text.trim() === '') continue
    if (statement.type !== 'output' || found !== undefined) return undefined
    found = statement.expression
  }
  return found
}

const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['none', null],
  ['None', null],
])
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WORD_LENGTH_MAX = 5
const NUMBER_LENGTH_MAX = 1300

/** Text that is plainly JSON as a whole becomes the value it stands for. */
function retyped(text: string): JsonValue {
  const trimmed = text.trim()
  if (trimmed.length <= WORD_LENGTH_MAX) {
    const word = WORDS.get(trimmed)
    if (word !== undefined) return word
  }
  const first = trimmed[0]
  const last = trimmed.at(-1)
  const isContainer = (first === '{' && last === '}') || (first === '[' && last === ']')
  const isNumber = !isContainer && trimmed.length <= NUMBER_LENGTH_MAX && JSON_NUMBER.test(trimmed)
  if (!isContainer && !isNumber) return text
  try {
    const value = parseJson(trimmed)
    if (isNumber && !Number.isFinite(Number(trimmed)) && typeof value !== 'bigint') return text
    if (typeof value === 'bigint') checkInteger(value)
    return value
  } catch {
    return text
  }
}
