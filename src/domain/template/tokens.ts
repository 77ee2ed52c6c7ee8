// The words of one tag, read until its end marker. Brackets are counted, so that the `}}` of `{{ {"a": {}} }}` that
// belongs to a map does not end the tag.

import { floatValue, integerValue, type JsonValue } from '../json/value.js'
import { checkInteger } from './limits.js'
import { Fault, templateError } from './templateError.js'

export interface Token {
  readonly kind: 'name' | 'literal' | 'operator' | 'end'
  /** The word or operator; empty for literals. */
  readonly text: string
  readonly value: JsonValue
  readonly at: number
}

export interface TagTokens {
  readonly tokens: readonly Token[]
  /** Where the text goes on behind the tag. */
  readonly end: number
  /** `-}}`: white space behind the tag is dropped. */
  readonly trimsAfter: boolean
}

const OPERATORS = ['**', '//', '==', '!=', '<=', '>=', ...'+-*/%~<>=()[]{},:.|']
const CLOSES: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
const NUMBER =
  /0[xX][\da-fA-F](?:_?[\da-fA-F])*|0[oO][0-7](?:_?[0-7])*|0[bB][01](?:_?[01])*|\d(?:_?\d)*(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d+)?/y
const NAME = /[\p{ID_Start}_][\p{ID_Continue}]*/uy
const SPACE = /\s+/y
const INTEGER_DIGITS_MAX = 1300

/** Reads from `start` to `close`, or to the end of the text when there is no end marker to wait for. */
export function readTokens(text: string, start: number, close: '}}' | '%}' | null): TagTokens {
  const tokens: Token[] = []
  const brackets: string[] = []
  let position = start
  for (;;) {
    SPACE.lastIndex = position
    if (SPACE.test(text)) position = SPACE.lastIndex
    if (position >= text.length) {
      if (close !== null) throw templateError(`${close} is missing`, text, start)
      tokens.push({ kind: 'end', text: '', value: null, at: position })
      return { tokens, end: position, trimsAfter: false }
    }
    if (close !== null && brackets.length === 0) {
      const trimsAfter = text[position] === '-' && text.startsWith(close, position + 1)
      const keeps = close === '%}' && text[position] === '+' && text.startsWith(close, position + 1)
      if (trimsAfter || keeps || text.startsWith(close, position)) {
        tokens.push({ kind: 'end', text: '', value: null, at: position })
        return { tokens, end: position + close.length + (trimsAfter || keeps ? 1 : 0), trimsAfter }
      }
    }
    const token = readToken(text, position, tokens.at(-1))
    if (token.operator !== undefined) count(token.operator, brackets, text, position)
    tokens.push(token.token)
    position = token.end
  }
}

function count(operator: string, brackets: string[], text: string, position: number): void {
  if (operator === '(' || operator === '[' || operator === '{') brackets.push(operator)
  const opens = CLOSES[operator]
  if (opens !== undefined && brackets.pop() !== opens) throw templateError(`unexpected ${operator}`, text, position)
}

interface ReadToken {
  readonly token: Token
  readonly end: number
  readonly operator?: string
}

function readToken(text: string, at: number, previous: Token | undefined): ReadToken {
  const first = text[at] as string
  if (first === '"' || first === "'") return readText(text, at)
  if (first >= '0' && first <= '9') return readNumber(text, at, previous?.text === '.')
  NAME.lastIndex = at
  const name = NAME.exec(text)?.[0]
  if (name !== undefined) {
    return { token: { kind: 'name', text: name, value: null, at }, end: at + name.length }
  }
  const operator = OPERATORS.find((one) => text.startsWith(one, at))
  if (operator === undefined) throw templateError(`unexpected character ${JSON.stringify(first)}`, text, at)
  return { token: { kind: 'operator', text: operator, value: null, at }, end: at + operator.length, operator }
}

function readNumber(text: string, at: number, isPathIndex: boolean): ReadToken {
  NUMBER.lastIndex = at
  let digits = (NUMBER.exec(text) as RegExpExecArray)[0]
  // `rows.0.1` holds two indices, not a fraction.
  if (isPathIndex) digits = (/^\d+/.exec(digits) as RegExpExecArray)[0]
  const end = at + digits.length
  const plain = digits.replaceAll('_', '')
  const isFraction = !/^0[xXoObB]/.test(plain) && /[.eE]/.test(plain)
  const value = isFraction ? floatValue(Number(plain)) : readInteger(plain, text, at)
  if (isFraction && !Number.isFinite(Number(plain))) throw templateError('the number is too large', text, at)
  return { token: { kind: 'literal', text: '', value, at }, end }
}

function readInteger(digits: string, text: string, at: number): JsonValue {
  try {
    if (digits.length > INTEGER_DIGITS_MAX) throw new Fault('the integer has too many digits')
    return integerValue(checkInteger(BigInt(digits)))
  } catch (error) {
    throw error instanceof Fault ? templateError(error.message, text, at) : error
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  0: '\0',
  '\\': '\\',
  '/': '/',
  "'": "'",
  '"': '"',
  '\n': '',
}

function readText(text: string, at: number): ReadToken {
  const quote = text[at] as string
  let value = ''
  let position = at + 1
  for (;;) {
    const character = text[position]
    if (character === undefined) throw templateError('a text without its closing quote', text, at)
    if (character === quote) break
    if (character !== '\\') {
      value += character
      position += 1
      continue
    }
    const [decoded, length] = readEscape(text, position)
    value += decoded
    position += length
  }
  return { token: { kind: 'literal', text: '', value, at }, end: position + 1 }
}

const HEX_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

function readEscape(text: string, at: number): readonly [string, number] {
  const kind = text[at + 1] ?? ''
  const hexLength = Object.hasOwn(HEX_LENGTHS, kind) ? (HEX_LENGTHS[kind] as number) : 0
  if (hexLength > 0) {
    const hex = text.slice(at + 2, at + 2 + hexLength)
    const code = /^[\da-fA-F]+$/.test(hex) && hex.length === hexLength ? Number.parseInt(hex, 16) : -1
    if (code < 0 || code > 0x10ffff) throw templateError(`\\${kind} needs ${hexLength} hexadecimal digits`, text, at)
    return [hexLength === 8 ? String.fromCodePoint(code) : String.fromCharCode(code), 2 + hexLength]
  }
  if (Object.hasOwn(ESCAPES, kind)) return [ESCAPES[kind] as string, 2]
  // An unknown escape keeps its backslash.
  return ['\\', 1]
}
