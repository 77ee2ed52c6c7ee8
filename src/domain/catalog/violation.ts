// A list of what is wrong with a document, each item with its place. A document is checked as a whole: its author
// gets every mistake at once, not one per attempt.

import { CpError } from '../../errors.js'
import { escapeSegment } from '../json/pointer.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export interface Violation {
  /** JSON pointer into the document, `/spec/dispatch/playbook`. */
  path: string
  message: string
}

/** Takes what is found wrong. */
export interface ViolationSink {
  push(violation: Violation): unknown
}

/** A place in a document, to read from and to complain about. */
export class Reader {
  constructor(
    private readonly object: JsonObject,
    readonly path: string,
    private readonly violations: ViolationSink,
  ) {}

  has(key: string): boolean {
    return this.value(key) !== undefined
  }

  value(key: string): JsonValue | undefined {
    const value = Object.hasOwn(this.object, key) ? this.object[key] : undefined
    return value === null ? undefined : value
  }

  wrong(key: string, message: string): undefined {
    this.violations.push({ path: `${this.path}/${escapeSegment(key)}`, message })
    return undefined
  }

  text(key: string, required?: 'required'): string | undefined {
    const value = this.value(key)
    if (value === undefined) return required ? this.wrong(key, 'is missing') : undefined
    if (typeof value !== 'string') return this.wrong(key, 'must be text')
    return value.trim() === '' ? this.wrong(key, 'must not be empty') : value
  }

  oneOf<T extends string>(key: string, allowed: readonly T[], required?: 'required'): T | undefined {
    const value = this.value(key)
    if (value === undefined) return required ? this.wrong(key, `is missing; one of ${allowed.join(', ')}`) : undefined
    const found = allowed.find((one) => one === value)
    return found ?? this.wrong(key, `must be one of ${allowed.join(', ')}`)
  }

  boolean(key: string): boolean | undefined {
    const value = this.value(key)
    if (value === undefined || typeof value === 'boolean') return value
    return this.wrong(key, 'must be true or false')
  }

  /** A whole number within bounds. */
  integer(key: string, min: number, max: number): number | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    return this.wrong(key, `must be a whole number from ${min} to ${max}`)
  }

  positive(key: string): number | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    const number = value instanceof Float ? value.value : value
    if (typeof number === 'number' && Number.isFinite(number) && number > 0) return number
    return this.wrong(key, 'must be a number above 0')
  }

  mapping(key: string, required?: 'required'): Reader | undefined {
    const value = this.value(key)
    if (value === undefined) return required ? this.wrong(key, 'is missing') : undefined
    if (!isJsonObject(value)) return this.wrong(key, 'must be a mapping')
    return new Reader(value, `${this.path}/${escapeSegment(key)}`, this.violations)
  }

  /** The mappings of a list; an item of another kind is a violation of its own. */
  mappings(key: string): Reader[] | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.wrong(key, 'must be a list')
    const path = `${this.path}/${escapeSegment(key)}`
    return value.flatMap((item, index) => {
      if (isJsonObject(item)) return [new Reader(item, `${path}/${index}`, this.violations)]
      this.violations.push({ path: `${path}/${index}`, message: 'must be a mapping' })
      return []
    })
  }

  raw(): JsonObject {
    return this.object
  }
}

const SHOWN_MAX = 100
const LENGTH_MAX = 300

/** Never much longer than a screen, whatever stands in the document: keys are part of the places. */
export function refuseDocument(what: string, violations: readonly Violation[]): CpError {
  const shown = violations
    .slice(0, SHOWN_MAX)
    .map(({ path, message }) => ({ path: shortened(path), message: shortened(message) }))
  if (violations.length > SHOWN_MAX) {
    shown.push({ path: '', message: `has ${violations.length - SHOWN_MAX} more mistakes` })
  }
  const list = shown.map(({ path, message }) => `${path === '' ? 'the document' : path} ${message}`).join('; ')
  return new CpError('refused', `${what} is not valid: ${list}; correct it and register it again`, {
    details: { violations: shown },
  })
}

function shortened(text: string): string {
  return text.length <= LENGTH_MAX ? text : `${text.slice(0, LENGTH_MAX)}…`
}
