// The points where the two profiles read an event differently: numbers that may be absent, zero or
// unreadable. `python` fails on an unreadable number and loses zeros; `cp` keeps the former value, says
// so in the warnings, and takes a zero for what it is.

import { CpError } from '../../errors.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { compareIntegers, firstTruthy, type Integer, integerOf, isTruthy, type Maybe } from './coerce.js'
import { classifyEventType, type EventKind } from './eventType.js'
import { type PayloadSummary, summarizePayload } from './payloadSummary.js'
import type { FoldProfile } from './profile.js'
import type { FoldWarnings } from './warnings.js'

export class FoldRules {
  /** The event being folded, for messages and warnings. */
  eventId: Integer | null = null
  private readonly isLenient: boolean
  private readonly kinds = new Map<string, EventKind>()

  constructor(
    readonly profile: FoldProfile,
    private readonly warnings: FoldWarnings,
  ) {
    this.isLenient = profile === 'cp'
  }

  kindOf(type: string): EventKind {
    let kind = this.kinds.get(type)
    if (kind === undefined) {
      kind = classifyEventType(this.profile, type)
      this.kinds.set(type, kind)
    }
    return kind
  }

  summarize(reference: JsonValue): PayloadSummary {
    return summarizePayload(reference, this.profile)
  }

  counter(field: string, told: Maybe, current: Maybe): Integer {
    if (!this.isLenient) return this.integer(field, firstTruthy(told, current, 0))
    if (told === null || told === undefined) return integerOf(current) ?? 0
    return integerOf(told) ?? this.unreadable(field, integerOf(current) ?? 0)
  }

  attempts(meta: JsonObject, current: Maybe): Integer {
    const before = this.isLenient ? (integerOf(current) ?? 0) : this.integer('attempts', current)
    const told = Object.hasOwn(meta, 'attempt') ? meta['attempt'] : 1
    const attempt = this.isLenient
      ? (integerOf(told) ?? this.unreadable('attempt', before))
      : this.integer('attempt', told)
    return compareIntegers(attempt, before) > 0 ? attempt : before
  }

  version(told: Maybe, alsoTold: Maybe, eventCount: Integer, current: Maybe): Integer {
    if (!this.isLenient) return this.integer('version', firstTruthy(told, alsoTold, eventCount))
    const value = told ?? alsoTold
    if (value === null || value === undefined) return eventCount
    return integerOf(value) ?? this.unreadable('version', integerOf(current) ?? 0)
  }

  /** Kept as written; only `cp` insists that it can be read. */
  total(told: Maybe, alsoTold: Maybe): JsonValue {
    if (!this.isLenient) return firstTruthy(told, alsoTold)
    const value = told ?? alsoTold ?? null
    if (value === null || integerOf(value) !== undefined) return value
    return this.unreadable('total', null)
  }

  /** The integer of a projection row: null stays null. */
  rowInteger(field: string, value: Maybe): Integer | null {
    if (value === null || value === undefined) return null
    return this.isLenient ? (integerOf(value) ?? null) : this.integer(field, value)
  }

  /** The integer of a projection row that is never null. */
  rowCount(field: string, value: Maybe): Integer {
    if (!isTruthy(value)) return 0
    return this.isLenient ? (integerOf(value) ?? 0) : this.integer(field, value)
  }

  integer(field: string, value: Maybe): Integer {
    const integer = integerOf(value)
    if (integer !== undefined) return integer
    return this.fail(`${field} is ${shortText(value)}, which is not an integer`, field)
  }

  fail(what: string, field: string): never {
    const event = this.eventId === null ? null : String(this.eventId)
    const place = event === null ? 'the replayed state' : `event ${event}`
    throw new CpError('corrupt', `${place} cannot be folded: ${what}`, { details: { event_id: event, field } })
  }

  private unreadable<T>(field: string, former: T): T {
    this.warnings.add('unreadable_value', field, this.eventId)
    return former
  }
}

function shortText(value: Maybe): string {
  if (value === undefined) return 'absent'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object or a float'
  const text = writeJson(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
