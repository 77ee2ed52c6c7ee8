// Writes canonical JSON text as bytes. Canonical text is ASCII, so every character is one byte and the
// bytes can be hashed, copied or turned into a string as they are. A large state is written piece by
// piece: whoever owns the writer takes the bytes out now and then and starts again.

import { compareCodePoints } from './codePoints.js'
import { floatText, numberText } from './number.js'
import { Float, type JsonObject, type JsonValue } from './value.js'

const BYTES_AT_START = 256
const HEX = '0123456789abcdef'

// What stands after the backslash; 0 where \u and four digits are needed.
const SHORT_ESCAPES = new Uint8Array(128)
for (const [character, letter] of ['""', '\\\\', '\nn', '\rr', '\tt', '\bb', '\ff']) {
  SHORT_ESCAPES[character!.charCodeAt(0)] = letter!.charCodeAt(0)
}

export class CanonicalWriter {
  private bytes: Uint8Array
  /** How many bytes have been written since the last reset. */
  position = 0

  constructor(bytesAtStart = BYTES_AT_START) {
    this.bytes = new Uint8Array(bytesAtStart)
  }

  /** A view of what was written; valid until the next write. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.position)
  }

  text(): string {
    return Buffer.from(this.bytes.buffer, 0, this.position).toString('latin1')
  }

  reset(): void {
    this.position = 0
  }

  /** A place where nothing before it needs to be copied any more; a subclass may empty the writer here. */
  rest(): void {}

  /** Bytes that another writer holds since its last reset. */
  copy(source: CanonicalWriter, from: number, to: number): void {
    this.reserve(to - from)
    this.bytes.set(source.bytes.subarray(from, to), this.position)
    this.position += to - from
  }

  /** Text that is canonical already; ASCII only. */
  raw(text: string): void {
    const { length } = text
    this.reserve(length)
    const { bytes, position } = this
    for (let index = 0; index < length; index++) bytes[position + index] = text.charCodeAt(index)
    this.position = position + length
  }

  value(value: JsonValue): void {
    switch (typeof value) {
      case 'string':
        this.string(value)
        break
      case 'number':
        this.number(value)
        break
      case 'object':
        if (value === null) this.raw('null')
        else if (Array.isArray(value)) this.array(value)
        else if (value instanceof Float) this.raw(floatText(value.value))
        else this.object(value)
        break
      default:
        this.raw(String(value))
    }
  }

  string(text: string): void {
    const { length } = text
    this.reserve(length * 6 + 2)
    const { bytes } = this
    let at = this.position
    bytes[at++] = 0x22
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code >= 0x20 && code < 0x7f && code !== 0x22 && code !== 0x5c) bytes[at++] = code
      else at = writeEscape(bytes, at, code)
    }
    bytes[at++] = 0x22
    this.position = at
  }

  private number(value: number): void {
    // Counters: most numbers of a state have one digit.
    if (value >= 0 && value < 10 && (value | 0) === value) {
      this.reserve(1)
      this.bytes[this.position++] = 0x30 + value
    } else {
      this.raw(numberText(value))
    }
  }

  private array(array: readonly JsonValue[]): void {
    this.byte(0x5b)
    for (let index = 0; index < array.length; index++) {
      if (index > 0) this.byte(0x2c)
      this.value(array[index]!)
    }
    this.byte(0x5d)
  }

  private object(object: JsonObject): void {
    const keys = sortedKeys(object)
    this.byte(0x7b)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      if (index > 0) this.byte(0x2c)
      this.string(key)
      this.byte(0x3a)
      this.value(object[key]!)
    }
    this.byte(0x7d)
  }

  private byte(code: number): void {
    this.reserve(1)
    this.bytes[this.position++] = code
  }

  private reserve(count: number): void {
    if (this.position + count > this.bytes.length) this.grow(this.position + count)
  }

  private grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    larger.set(this.bytes.subarray(0, this.position))
    this.bytes = larger
  }
}

function writeEscape(bytes: Uint8Array, from: number, code: number): number {
  let at = from
  bytes[at++] = 0x5c
  const short = code < 128 ? SHORT_ESCAPES[code]! : 0
  if (short !== 0) {
    bytes[at++] = short
    return at
  }
  bytes[at++] = 0x75
  for (let shift = 12; shift >= 0; shift -= 4) bytes[at++] = HEX.charCodeAt((code >> shift) & 15)
  return at
}

export function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object)
  for (let index = 1; index < keys.length; index++) {
    if (compareCodePoints(keys[index - 1]!, keys[index]!) > 0) return keys.sort(compareCodePoints)
  }
  return keys
}
