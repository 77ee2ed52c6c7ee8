// The lossless JSON reader behind parseJson and parseJsonStrict. It reads exactly the JSON grammar,
// keeps integers and floats apart, and knows at every moment where in the document it is, so that an
// error can name the place. It must never recurse deeper than it was allowed to, and never let a key
// called `__proto__` touch a prototype.

import { CpError } from '../../errors.js'
import { jsonPointer } from './pointer.js'
import { Float, type JsonObject, type JsonValue, setKey } from './value.js'

export interface ReaderRules {
  readonly depthMax: number
  /** Refuse what may not enter the log: duplicate keys, NUL, lone surrogates, floats beyond a double. */
  readonly strict: boolean
}

// BigInt(text) is slower than linear; the same bound as the reference implementation.
export const INTEGER_DIGITS_MAX = 4300

const QUOTE = 0x22
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c

const CONTROL = /[^\u0020-\uffff]/
const LONE_SURROGATE = /\p{Surrogate}/u

// Logs repeat the same short texts over and over. Handing out one shared text instead of a new one each
// time makes what comes after (comparing, looking up) about a quarter faster.
const SHARED_LENGTH_MAX = 24
const SHARED_SLOTS = 1024
const SHARING_LENGTH_MIN = 16_384

const ESCAPED: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

export class JsonReader {
  private position = 0
  private depth = 0
  private readonly path: (string | number)[] = []
  // Most texts hold few escapes: one search ahead replaces a look at every character.
  private nextBackslash: number
  private readonly hasControls: boolean
  private readonly sharedTexts: string[] | null

  constructor(
    private readonly text: string,
    private readonly rules: ReaderRules,
  ) {
    this.nextBackslash = text.indexOf('\\')
    this.hasControls = CONTROL.test(text)
    this.sharedTexts = text.length < SHARING_LENGTH_MIN ? null : new Array<string>(SHARED_SLOTS).fill('')
  }

  readDocument(): JsonValue {
    const value = this.readValue(this.skipSpace())
    this.skipSpace()
    if (this.position < this.text.length) this.failAtCharacter()
    return value
  }

  /** The code of the next character that is not white space; NaN at the end. */
  private skipSpace(): number {
    const { text } = this
    let code = text.charCodeAt(this.position)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++this.position)
    return code
  }

  private readValue(code: number): JsonValue {
    switch (code) {
      case QUOTE:
        return this.readString()
      case 0x7b:
        return this.readObject()
      case 0x5b:
        return this.readArray()
      case 0x74:
        return this.readWord('true', true)
      case 0x66:
        return this.readWord('false', false)
      case 0x6e:
        return this.readWord('null', null)
      default:
        if (code === MINUS || (code >= ZERO && code <= NINE)) return this.readNumber()
        return this.failAtCharacter()
    }
  }

  private readWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) this.failAtCharacter()
    this.position += word.length
    return value
  }

  private readObject(): JsonObject {
    this.enter()
    const { path, rules } = this
    const level = this.depth - 1
    const object: JsonObject = {}
    if (this.skipSpace() === 0x7d) {
      this.leave()
      return object
    }
    for (;;) {
      if (this.skipSpace() !== QUOTE) this.failAtCharacter()
      const start = this.position
      const key = this.readString()
      path[level] = key
      if (rules.strict && Object.hasOwn(object, key)) this.fail(`the key ${JSON.stringify(key)} appears twice`, start)
      if (this.skipSpace() !== 0x3a) this.failAtCharacter()
      this.position++
      setKey(object, key, this.readValue(this.skipSpace()))
      const code = this.skipSpace()
      if (code === 0x7d) break
      if (code !== 0x2c) this.failAtCharacter()
      this.position++
    }
    this.leave()
    return object
  }

  private readArray(): JsonValue[] {
    this.enter()
    const { path } = this
    const level = this.depth - 1
    const array: JsonValue[] = []
    let code = this.skipSpace()
    if (code === 0x5d) {
      this.leave()
      return array
    }
    for (;;) {
      path[level] = array.length
      array.push(this.readValue(code))
      code = this.skipSpace()
      if (code === 0x5d) break
      if (code !== 0x2c) this.failAtCharacter()
      this.position++
      code = this.skipSpace()
    }
    this.leave()
    return array
  }

  private enter(): void {
    if (this.depth === this.rules.depthMax) {
      this.fail(`nested deeper than ${this.rules.depthMax} levels`, this.position)
    }
    this.depth++
    this.position++
  }

  private leave(): void {
    this.depth--
    this.path.length = this.depth
    this.position++
  }

  private readString(): string {
    const { text } = this
    const start = this.position + 1
    const end = text.indexOf('"', start)
    if (end < 0) this.fail('a text without its closing quote', this.position)
    if (this.nextBackslash >= 0 && this.nextBackslash < start) this.nextBackslash = text.indexOf('\\', start)
    const plain = this.nextBackslash < 0 || this.nextBackslash > end
    const value = plain ? this.sharedText(start, end) : this.readEscapedString(start)
    if (plain) {
      this.position = end + 1
      if (this.hasControls && CONTROL.test(value)) this.fail('an unescaped control character in a text', start)
    }
    if (this.rules.strict) this.checkText(value, start)
    return value
  }

  private sharedText(start: number, end: number): string {
    const { text, sharedTexts } = this
    const length = end - start
    const last = text.charCodeAt(end - 1)
    // What ends in a digit is mostly an id that comes once; it would only push others out.
    const isLikelyOnce = length > SHARED_LENGTH_MAX || length === 0 || (last >= ZERO && last <= NINE)
    if (sharedTexts === null || isLikelyOnce) return text.slice(start, end)
    const middle = text.charCodeAt(start + (length >> 1))
    const slot = (length * 37 + text.charCodeAt(start) * 11 + middle * 101 + last * 5) % SHARED_SLOTS
    const shared = sharedTexts[slot]!
    if (shared.length === length && text.startsWith(shared, start)) return shared
    const fresh = text.slice(start, end)
    sharedTexts[slot] = fresh
    return fresh
  }

  private checkText(value: string, start: number): void {
    if (value.includes('\u0000')) this.fail('the character U+0000 cannot be stored', start)
    if (LONE_SURROGATE.test(value)) this.fail('half of a surrogate pair is not a character', start)
  }

  private readEscapedString(start: number): string {
    const { text } = this
    let value = ''
    let from = start
    let at = start
    for (;;) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) break
      if (code < 0x20) this.fail('an unescaped control character in a text', at)
      if (Number.isNaN(code)) this.fail('a text without its closing quote', start - 1)
      if (code !== BACKSLASH) {
        at++
        continue
      }
      value += text.slice(from, at)
      const letter = text.charAt(at + 1)
      if (letter === 'u') {
        const digits = text.slice(at + 2, at + 6)
        if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail('\\u without four hexadecimal digits', at)
        value += String.fromCharCode(Number.parseInt(digits, 16))
        at += 6
      } else {
        const plain = Object.hasOwn(ESCAPED, letter) ? ESCAPED[letter] : undefined
        if (plain === undefined) return this.fail('an unknown escape in a text', at)
        value += plain
        at += 2
      }
      from = at
    }
    this.position = at + 1
    return value + text.slice(from, at)
  }

  private readNumber(): number | bigint | Float {
    const { text } = this
    const start = this.position
    let at = start
    let code = text.charCodeAt(at)
    const negative = code === MINUS
    if (negative) code = text.charCodeAt(++at)
    const firstDigit = at
    let small = 0
    while (code >= ZERO && code <= NINE) {
      small = small * 10 + (code - ZERO)
      code = text.charCodeAt(++at)
    }
    const digits = at - firstDigit
    this.position = at
    if (digits === 0) return this.failAtCharacter()
    if (digits > 1 && text.charCodeAt(firstDigit) === ZERO) this.fail('a number with a leading zero', start)
    if (code === 0x2e || code === 0x65 || code === 0x45) return this.readFloat(start, at, code)
    // Fifteen digits always fit a double exactly; no -0, which as an integer is 0.
    if (digits <= 15) return negative && small !== 0 ? -small : small
    if (digits > INTEGER_DIGITS_MAX) this.fail(`an integer of more than ${INTEGER_DIGITS_MAX} digits`, start)
    if (digits === 16 && small <= Number.MAX_SAFE_INTEGER) return negative ? -small : small
    return BigInt(text.slice(start, at))
  }

  private readFloat(start: number, from: number, next: number): number | Float {
    const { text } = this
    let at = from
    let code = next
    if (code === 0x2e) {
      const first = ++at
      at = this.skipDigits(at)
      if (at === first) this.failAtCharacter(at)
      code = text.charCodeAt(at)
    }
    if (code === 0x65 || code === 0x45) {
      code = text.charCodeAt(++at)
      if (code === 0x2b || code === MINUS) at++
      const first = at
      at = this.skipDigits(at)
      if (at === first) this.failAtCharacter(at)
    }
    this.position = at
    const value = Number(text.slice(start, at))
    if (!Number.isInteger(value)) {
      if (Number.isFinite(value)) return value
      if (this.rules.strict) this.fail('a number beyond the range of a double', start)
    }
    return new Float(value)
  }

  private skipDigits(from: number): number {
    const { text } = this
    let at = from
    let code = text.charCodeAt(at)
    while (code >= ZERO && code <= NINE) code = text.charCodeAt(++at)
    return at
  }

  private failAtCharacter(at = this.position): never {
    if (at >= this.text.length) this.fail('the text ends too early', at)
    const character = String.fromCodePoint(this.text.codePointAt(at) ?? 0)
    this.fail(`unexpected character ${JSON.stringify(character)}`, at)
  }

  private fail(what: string, offset: number): never {
    const pointer = jsonPointer(this.path.slice(0, this.depth))
    const place = pointer === '' ? 'at the top level' : `at ${pointer}`
    throw new CpError('invalid_input', `not acceptable as JSON: ${what} (offset ${offset}, ${place})`, {
      details: { pointer, offset },
    })
  }
}
