// Guards. Text without braces is an expression, text with braces a template; other values stand for themselves. The outcome
// is judged more kindly than inside an expression: the texts no, off, none … are false as well.

import type { JsonValue } from '../json/value.js'
import type { TemplateContext, TemplateValue } from './run.js'
import { Template } from './template.js'
import { templateError } from './templateError.js'
import { isTrue } from './values.js'

export interface Condition {
  /** Undefined when the guard is a plain value. */
  readonly template: Template | undefined
  isMet(context: TemplateContext): boolean
}

export function compileCondition(source: JsonValue): Condition {
  if (typeof source !== 'string') {
    const fixed = isMet(source)
    return { template: undefined, isMet: () => fixed }
  }
  if (source.trim() === '') throw templateError('the condition is empty', source, 0)
  const template = Template.compile(source) ?? Template.compileExpression(source)
  return { template, isMet: (context) => isMet(template.value(context)) }
}

const FALSE_TEXTS: ReadonlySet<string> = new Set(['', 'false', '0', 'no', 'none', 'null', 'off'])
const FALSE_LENGTH_MAX = 5

function isMet(value: TemplateValue): boolean {
  if (typeof value !== 'string') return isTrue(value)
  const text = value.trim()
  return text.length > FALSE_LENGTH_MAX || !FALSE_TEXTS.has(text.toLowerCase())
}
