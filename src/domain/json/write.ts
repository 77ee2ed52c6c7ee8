// JSON text without losing numbers: big integers bare, floats recognisable as floats, keys in their
// order. What is written here reads back through parseJson as the same value. Never used for hashing:
// that is canonical.ts.

import { CpError } from '../../errors.js'
import { floatText, numberText } from './number.js'
import { Float, type JsonObject, type JsonValue } from './value.js'

export function writeJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return writeScalar(value)
  const out = new TextChunks()
  write(value, out)
  return out.text()
}

export function writeJsonPretty(value: JsonValue, indent = 2): string {
  return writePretty(value, ' '.repeat(indent), '\n')
}

// A long text put together from millions of pieces is kept as a tree of them until somebody reads it.
// Reading it every 64 kB instead keeps the tree small: measured, a third of the time.
class TextChunks {
  private chunk = ''
  private readonly chunks: string[] = []

  add(text: string): void {
    this.chunk += text
    if (this.chunk.length >= CHUNK_CHARACTERS) this.close()
  }

  text(): string {
    this.close()
    return this.chunks.length === 1 ? this.chunks[0]! : this.chunks.join('')
  }

  private close(): void {
    this.chunk.charCodeAt(0)
    this.chunks.push(this.chunk)
    this.chunk = ''
  }
}

const CHUNK_CHARACTERS = 1 << 16

function write(value: JsonValue, out: TextChunks): void {
  if (typeof value !== 'object' || value === null) {
    out.add(writeScalar(value))
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      out.add(index === 0 ? '[' : ',')
      write(value[index]!, out)
    }
    out.add(value.length === 0 ? '[]' : ']')
  } else if (value instanceof Float) {
    out.add(writeFloat(value.value))
  } else {
    writeObject(value, out)
  }
}

function writeObject(object: JsonObject, out: TextChunks): void {
  const keys = Object.keys(object)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    out.add(`${index === 0 ? '{' : ','}${writeText(key)}:`)
    write(object[key]!, out)
  }
  out.add(keys.length === 0 ? '{}' : '}')
}

function writePretty(value: JsonValue, step: string, newline: string): string {
  if (typeof value !== 'object' || value === null || value instanceof Float) return writeJson(value)
  const inner = newline + step
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${inner}${writePretty(item, step, inner)}`
    return text === '' ? '[]' : `[${text}${newline}]`
  }
  for (const key of Object.keys(value)) {
    text += `${text === '' ? '' : ','}${inner}${writeText(key)}: ${writePretty(value[key]!, step, inner)}`
  }
  return text === '' ? '{}' : `{${text}${newline}}`
}

function writeScalar(value: null | boolean | number | bigint | string): string {
  switch (typeof value) {
    case 'string':
      return writeText(value)
    case 'number':
      return Number.isFinite(value) ? numberText(value) : writeFloat(value)
    default:
      return String(value)
  }
}

// Nothing to escape and no surrogates. Measured: a third of the time of JSON.stringify per short text.
const NEEDS_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

function writeText(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`
}

function writeFloat(value: number): string {
  if (Number.isFinite(value)) return floatText(value)
  if (Number.isNaN(value)) throw new CpError('invalid_input', 'NaN has no JSON text')
  // JSON has no word for infinity, but a literal beyond every double reads back as one.
  return value > 0 ? '1e+999' : '-1e+999'
}
