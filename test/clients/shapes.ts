// The table of what clients read: one row per field, each with what it must be.
import { expect } from 'vitest'
import { Float, isJsonObject, type JsonValue } from '../../src/domain/json/value.js'
import type { Answer } from './client.js'

/** What a value is for whoever reads it. */
export type Kind =
  | 'text'
  | 'id text'
  | 'id number'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'object'
  | 'list'
  | 'time'
  | 'anything'
  | { oneOf: readonly unknown[] }
  | { orNull: Kind }

export interface Shape {
  call: string
  /** Where in the answer the fields are: `events/0`; the answer itself without it. */
  at?: string
  fields: Record<string, Kind>
}

export const rowsOf = (shapes: readonly Shape[]): [string, string, Shape, Kind][] =>
  shapes.flatMap((shape) =>
    Object.entries(shape.fields).map(([field, kind]): [string, string, Shape, Kind] => [
      `${shape.call}${shape.at === undefined ? '' : ` ${shape.at}`}`,
      field,
      shape,
      kind,
    ]),
  )

/** `events/0/result` of an answer. */
export function valueAt(body: any, at: string | undefined): unknown {
  return (at?.split('/') ?? []).reduce((place, part) => place?.[part], body)
}

export function expectField({ status, body }: Answer, { at }: Shape, field: string, kind: Kind): void {
  expect(status).toBe(200)
  const place = valueAt(body, at) as object
  expect(Object.keys(place)).toContain(field)
  expectKind((place as Record<string, unknown>)[field], kind)
}

const IS: Record<Extract<Kind, string>, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  'id text': (value) => typeof value === 'string' && /^\d{1,19}$/.test(value),
  'id number': (value) => typeof value === 'number' || typeof value === 'bigint',
  integer: Number.isInteger,
  // 1.0 is kept apart from 1.
  number: (value) => typeof value === 'number' || value instanceof Float,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => isJsonObject(value as JsonValue),
  list: Array.isArray,
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value),
  anything: () => true,
}

function expectKind(value: unknown, kind: Kind): void {
  if (typeof kind === 'string') expect(IS[kind](value), `${String(value)} is ${kind}`).toBe(true)
  else if ('oneOf' in kind) expect(kind.oneOf).toContain(value)
  else if (value !== null) expectKind(value, kind.orNull)
}
