// Branded 64-bit ids and their parsers. An id is a decimal string in canonical form (no sign but a minus,
// no leading zeros), so that equal ids are equal strings. It must never become a JavaScript number:
// everything above 2^53 would silently lose digits.

import { CpError } from '../../errors.js'

declare const brand: unique symbol
type Id<Name extends string> = string & { readonly [brand]: Name }

export type ExecutionId = Id<'ExecutionId'>
export type EventId = Id<'EventId'>
export type CatalogId = Id<'CatalogId'>
export type OutboxId = Id<'OutboxId'>
export type SubscriptionId = Id<'SubscriptionId'>

export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

/** `any` is for the few places where the NoETL server takes a plain signed 64-bit integer (shard-info). */
export type IdSign = 'nonNegative' | 'any'

const CANONICAL = /^(?:0|-?[1-9][0-9]{0,18})$/
const MAX_DIGITS_TEXT = '9223372036854775807'

/** The decimal text of an integer that came in as a number, a bigint or a string. */
export function parseInt64(value: unknown, field: string, sign: IdSign = 'nonNegative'): string {
  const text = integerText(value)
  if (text === undefined) {
    throw invalid(field, 'must be an integer or its decimal digits, without spaces, signs or leading zeros')
  }
  if (!fitsInt64(text)) throw invalid(field, 'must fit into a signed 64-bit integer')
  if (sign === 'nonNegative' && text.startsWith('-')) throw invalid(field, 'must not be negative')
  return text
}

export const parseExecutionId = (value: unknown, field = 'execution_id'): ExecutionId =>
  parseInt64(value, field) as ExecutionId
export const parseEventId = (value: unknown, field = 'event_id'): EventId => parseInt64(value, field) as EventId
export const parseCatalogId = (value: unknown, field = 'catalog_id'): CatalogId => parseInt64(value, field) as CatalogId
export const parseOutboxId = (value: unknown, field = 'outbox_id'): OutboxId => parseInt64(value, field) as OutboxId
export const parseSubscriptionId = (value: unknown, field = 'subscription_id'): SubscriptionId =>
  parseInt64(value, field) as SubscriptionId

/** Absent, null and the empty text mean "no id"; anything else must parse. */
export function parseOptionalId<T extends string>(
  parse: (value: unknown, field?: string) => T,
  value: unknown,
  field?: string,
): T | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return field === undefined ? parse(value) : parse(value, field)
}

/** Numeric order of canonical ids without building bigints: shorter is smaller, else by digits. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0
  const negativeA = a.charCodeAt(0) === 45
  const negativeB = b.charCodeAt(0) === 45
  if (negativeA !== negativeB) return negativeA ? -1 : 1
  const smaller = a.length === b.length ? a < b : a.length < b.length
  return smaller !== negativeA ? -1 : 1
}

function integerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length <= 20 && CANONICAL.test(value) ? value : undefined
  if (typeof value === 'bigint') return String(value)
  // Beyond 2^53 the digits the caller wrote are already gone, so such a number is refused rather than guessed at.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value === 0 ? 0 : value)
  return undefined
}

/** Of decimal digits, with or without a minus. */
export function fitsInt64(text: string): boolean {
  const negative = text.startsWith('-')
  const digits = negative ? text.slice(1) : text
  if (digits.length !== MAX_DIGITS_TEXT.length) return digits.length < MAX_DIGITS_TEXT.length
  return negative ? digits <= '9223372036854775808' : digits <= MAX_DIGITS_TEXT
}

function invalid(field: string, rule: string): CpError {
  return new CpError('invalid_input', `${field} ${rule}`, { details: { field } })
}
