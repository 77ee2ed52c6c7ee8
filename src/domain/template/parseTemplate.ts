// The text of a template taken apart: text, `{{ }}`, `{% %}`, `{# #}`. One pass from left to right.
//
// In code (shell, python) braces have meanings of their own: with `isCode` a tag that cannot be read stays as text and
// is reported, instead of being an error. `${#` never starts a comment: it is the length of a shell variable.

import { NESTING_MAX, TEMPLATE_CHARACTERS_MAX } from './limits.js'
import { ExpressionParser } from './parseExpression.js'
import type { Expression, Statement } from './syntax.js'
import { TemplateError, templateError } from './templateError.js'
import { readTokens, type TagTokens } from './tokens.js'

export interface ParsedTemplate {
  readonly statements: readonly Statement[]
  /** Tags that were left as text. */
  readonly warnings: readonly TemplateError[]
}

/** Whether anything in the text is for us. */
export function hasTags(text: string): boolean {
  return findTag(text, 0) >= 0
}

function findTag(text: string, from: number): number {
  for (let at = text.indexOf('{', from); at >= 0; at = text.indexOf('{', at + 1)) {
    const next = text[at + 1]
    if (next === '{' || next === '%') return at
    if (next === '#' && text[at - 1] !== '$') return at
  }
  return -1
}

export function parseTemplate(text: string, isCode = false): ParsedTemplate {
  if (text.length > TEMPLATE_CHARACTERS_MAX) {
    const tooLong = templateError(`longer than ${TEMPLATE_CHARACTERS_MAX} characters`, text, 0)
    // Long programs exist, and take their values as arguments: they stay as they are.
    if (isCode) return { statements: [{ type: 'text', text }], warnings: [tooLong] }
    throw tooLong
  }
  return new TemplateParser(text, isCode).parse()
}

export function parseExpressionText(text: string): Expression {
  if (text.length > TEMPLATE_CHARACTERS_MAX) {
    throw templateError(`longer than ${TEMPLATE_CHARACTERS_MAX} characters`, text, 0)
  }
  const parser = new ExpressionParser(text, readTokens(text, 0, null).tokens)
  const expression = parser.expression()
  parser.expectEnd()
  return expression
}

/** A block that is open: where its statements go, and what may end it. */
interface Block {
  readonly at: number
  readonly word: 'if' | 'for' | 'set'
  body: Statement[]
  /** Takes `elif` or `else`; false when it has no place here. */
  turn(word: 'elif' | 'else', parser: ExpressionParser): boolean
  close(): Statement
}

const STATEMENT_WORDS: ReadonlySet<string> = new Set([
  'if',
  'elif',
  'else',
  'endif',
  'for',
  'endfor',
  'set',
  'endset',
  'raw',
])

const CLOSE = { '{': '}}', '%': '%}', '#': '#}' } as const

class TemplateParser {
  private readonly root: Statement[] = []
  private readonly blocks: Block[] = []
  private readonly warnings: TemplateError[] = []
  private position = 0
  private trimsNext = false

  constructor(
    private readonly text: string,
    private readonly isCode: boolean,
  ) {}

  parse(): ParsedTemplate {
    const { text } = this
    let searchFrom = 0
    for (;;) {
      const at = findTag(text, Math.max(searchFrom, this.position))
      if (at < 0) break
      try {
        this.tag(at)
        searchFrom = this.position
      } catch (error) {
        if (!this.isCode || !(error instanceof TemplateError) || !this.isLoneTag(at)) throw error
        this.warnings.push(error)
        const close = text.indexOf(CLOSE[text[at + 1] as '{'], at + 2)
        searchFrom = close < 0 ? text.length : close + 2
      }
    }
    this.addText(text.length, false)
    const open = this.blocks.at(-1)
    if (open !== undefined) throw templateError(`{% end${open.word} %} is missing`, text, open.at)
    return { statements: this.root, warnings: this.warnings }
  }

  /** A tag whose failure leaves the blocks around it as they are. */
  private isLoneTag(at: number): boolean {
    if (this.text[at + 1] !== '%') return true
    const word = /^\{%[-+]?\s*(\w*)/.exec(this.text.slice(at, at + 200))?.[1] ?? ''
    return !STATEMENT_WORDS.has(word)
  }

  private get body(): Statement[] {
    return this.blocks.at(-1)?.body ?? this.root
  }

  /** Text up to `end`, without the white space that the tags around it drop. */
  private addText(end: number, trimsEnd: boolean): void {
    let text = this.text.slice(this.position, end)
    if (this.trimsNext) text = text.trimStart()
    if (trimsEnd) text = text.trimEnd()
    if (end === this.text.length && !trimsEnd) text = text.replace(/\r?\n$/, '')
    if (text !== '') this.body.push({ type: 'text', text })
  }

  private tag(at: number): void {
    const { text } = this
    const kind = text[at + 1] as '{' | '%' | '#'
    const trimsBefore = text[at + 2] === '-'
    const inner = at + 2 + (trimsBefore || (kind === '%' && text[at + 2] === '+') ? 1 : 0)
    if (kind === '#') {
      this.comment(at, trimsBefore)
      return
    }
    if (kind === '{') {
      const tokens = readTokens(text, inner, '}}')
      const parser = new ExpressionParser(text, tokens.tokens)
      const expression = parser.expressionList()
      parser.expectEnd()
      this.addText(at, trimsBefore)
      this.body.push({ type: 'output', expression, at })
      this.goOn(tokens.end, tokens.trimsAfter)
      return
    }
    RAW.lastIndex = inner
    if (RAW.test(text)) {
      this.raw(at, trimsBefore, RAW.lastIndex)
      return
    }
    const tokens = readTokens(text, inner, '%}')
    this.statement(at, trimsBefore, tokens)
  }

  private goOn(position: number, trimsNext: boolean): void {
    this.position = position
    this.trimsNext = trimsNext
  }

  private comment(at: number, trimsBefore: boolean): void {
    const close = this.text.indexOf('#}', at + 2)
    if (close < 0) throw templateError('#} is missing', this.text, at)
    this.addText(at, trimsBefore)
    this.goOn(close + 2, this.text[close - 1] === '-' && close - 1 > at + 1)
  }

  private raw(at: number, trimsBefore: boolean, from: number): void {
    ENDRAW.lastIndex = from
    const end = ENDRAW.exec(this.text)
    if (end === null) throw templateError('{% endraw %} is missing', this.text, at)
    this.addText(at, trimsBefore)
    let inside = this.text.slice(from, end.index)
    if (this.text[from - 3] === '-') inside = inside.trimStart()
    if (end[0][2] === '-') inside = inside.trimEnd()
    if (inside !== '') this.body.push({ type: 'text', text: inside })
    this.goOn(ENDRAW.lastIndex, end[0].at(-3) === '-')
  }

  private statement(at: number, trimsBefore: boolean, tag: TagTokens): void {
    const word = tag.tokens[0] as TagTokens['tokens'][number]
    const name = word.kind === 'name' ? word.text : ''
    const parser = new ExpressionParser(this.text, tag.tokens.slice(1))
    // The text before belongs to the block that is open now.
    const addText = () => this.addText(at, trimsBefore)
    switch (name) {
      case 'if':
        this.open(ifBlock(at, parser), addText, tag)
        return
      case 'for':
        this.open(forBlock(at, parser), addText, tag)
        return
      case 'set': {
        const opened = setStatement(at, parser)
        if ('close' in opened) {
          this.open(opened, addText, tag)
          return
        }
        addText()
        this.body.push(opened)
        this.goOn(tag.end, tag.trimsAfter)
        return
      }
      case 'elif':
      case 'else': {
        addText()
        if (this.blocks.at(-1)?.turn(name, parser) !== true) {
          throw templateError(`{% ${name} %} has no place here`, this.text, at)
        }
        this.goOn(tag.end, tag.trimsAfter)
        return
      }
      case 'endif':
      case 'endfor':
      case 'endset':
        addText()
        parser.expectEnd()
        this.close(name, at)
        this.goOn(tag.end, tag.trimsAfter)
        return
      default:
        throw templateError(`there is no statement ${JSON.stringify(name)}`, this.text, at)
    }
  }

  private open(block: Block, addText: () => void, tag: TagTokens): void {
    if (this.blocks.length >= NESTING_MAX) {
      throw templateError(`nested more than ${NESTING_MAX} levels deep`, this.text, block.at)
    }
    addText()
    this.blocks.push(block)
    this.goOn(tag.end, tag.trimsAfter)
  }

  private close(word: string, at: number): void {
    const block = this.blocks.at(-1)
    if (block === undefined || word !== `end${block.word}`) {
      throw templateError(`{% ${word} %} has no place here`, this.text, at)
    }
    this.blocks.pop()
    this.body.push(block.close())
  }
}

const RAW = /\s*raw\s*-?%\}/y
const ENDRAW = /\{%[-+]?\s*endraw\s*[-+]?%\}/g

function ifBlock(at: number, parser: ExpressionParser): Block {
  const test = parser.expression()
  parser.expectEnd()
  const branches = [{ test, body: [] as Statement[] }]
  const otherwise: Statement[] = []
  let hasElse = false
  return {
    at,
    word: 'if',
    body: branches[0]?.body ?? [],
    turn(word, next) {
      if (hasElse) return false
      if (word === 'elif') branches.push({ test: next.expression(), body: [] })
      else hasElse = true
      next.expectEnd()
      this.body = hasElse ? otherwise : (branches.at(-1)?.body ?? [])
      return true
    },
    close: () => ({ type: 'if', branches, otherwise }),
  }
}

function forBlock(at: number, parser: ExpressionParser): Block {
  const targets = targetsOf(parser)
  parser.expectWord('in')
  const list = parser.withoutCondition()
  const filter = parser.skipWord('if') ? parser.expression() : undefined
  if (parser.isWord('recursive')) parser.fail('recursive loops are not supported')
  parser.expectEnd()
  const body: Statement[] = []
  const otherwise: Statement[] = []
  let hasElse = false
  return {
    at,
    word: 'for',
    body,
    turn(word, next) {
      if (hasElse || word === 'elif') return false
      next.expectEnd()
      hasElse = true
      this.body = otherwise
      return true
    },
    close: () => ({ type: 'for', targets, list, filter, body, otherwise, at }),
  }
}

function setStatement(at: number, parser: ExpressionParser): Block | Statement {
  const targets = targetsOf(parser)
  if (parser.skipOperator('=')) {
    const value = parser.expressionList()
    parser.expectEnd()
    return { type: 'set', targets, value, at }
  }
  if (parser.isOperator('.')) parser.fail('only plain names can be set')
  parser.expectEnd()
  if (targets.length > 1) parser.fail('one name only')
  const body: Statement[] = []
  return {
    at,
    word: 'set',
    body,
    turn: () => false,
    close: () => ({ type: 'capture', target: targets[0] as string, body, at }),
  }
}

function targetsOf(parser: ExpressionParser): string[] {
  const isWrapped = parser.skipOperator('(')
  const targets = [parser.target()]
  while (parser.skipOperator(',')) targets.push(parser.target())
  if (isWrapped) parser.expectOperator(')')
  return targets
}
