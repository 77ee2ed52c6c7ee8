// Values of Postgres as JSON, from the text in which the server sends them, and values of JSON as parameters. Integers
// keep every digit; numeric stays text unless it is a whole number that a double holds; what has no form in JSON stays text.

import { parseJson } from '../json/parse.js'
import { floatValue, integerValue, isJsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { scalarText } from './configFields.js'

export type NumericForm = 'text' | 'number'

const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const

/** Array type → the type of its elements. */
export const ARRAYS: ReadonlyMap<number, number> = new Map([
  ...([
    [1000, 16],
    [1001, 17],
    [1002, 18],
    [1003, 19],
    [1016, 20],
    [1005, 21],
    [1007, 23],
    [1009, 25],
  ] as const),
  ...([
    [1028, 26],
    [199, 114],
    [143, 142],
    [1021, 700],
    [1022, 701],
    [791, 790],
    [1040, 829],
    [1041, 869],
  ] as const),
  ...([
    [651, 650],
    [1014, 1042],
    [1015, 1043],
    [1182, 1082],
    [1183, 1083],
    [1115, 1114],
    [1185, 1184],
  ] as const),
  ...([
    [1187, 1186],
    [1270, 1266],
    [1231, 1700],
    [2951, 2950],
    [3807, 3802],
  ] as const),
])
export const JSON_TYPES: readonly number[] = [OID.json, OID.jsonb]
/** From here on types are those of the database, not of the server. */
export const OWN_TYPES_FROM = 16_384

export interface PgTypes {
  readonly numeric: NumericForm
  /** Array types of the database itself, with the types of their elements. */
  readonly arrays: ReadonlyMap<number, number>
}

export function pgValue(text: string, type: number, types: PgTypes): JsonValue {
  switch (type) {
    case OID.bool:
      return text === 't'
    case OID.int2:
    case OID.int4:
    case OID.int8:
    case OID.oid:
      return integerValue(BigInt(text))
    case OID.float4:
    case OID.float8: {
      const number = Number(text)
      return Number.isFinite(number) ? floatValue(number) : text
    }
    case OID.numeric:
      return numericValue(text, types.numeric)
    case OID.json:
    case OID.jsonb:
      return parseJson(text)
    case OID.bytea:
      return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text
    case OID.timestamptz:
      return utcTime(text)
    case OID.timestamp:
      return text.replace(/^(\d{4,}-\d\d-\d\d) (\d\d:)/, '$1T$2')
    default: {
      const element = ARRAYS.get(type) ?? types.arrays.get(type)
      return element === undefined ? text : arrayValue(text, element, types)
    }
  }
}

function numericValue(text: string, form: NumericForm): JsonValue {
  if (/^-?\d+$/.test(text)) {
    const value = integerValue(BigInt(text))
    if (typeof value === 'number') return value
  }
  const number = Number(text)
  return form === 'number' && Number.isFinite(number) ? floatValue(number) : text
}

const TIME_WITH_ZONE = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(\.\d+)?([+-])(\d\d)(?::?(\d\d))?$/

/** RFC 3339 in UTC, with all digits of the seconds. `infinity` and years before Christ stay as they are. */
function utcTime(text: string): string {
  const match = TIME_WITH_ZONE.exec(text)
  if (match === null) return text
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHours, zoneMinutes = '0'] = match
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  const numbers = [year, Number(month) - 1, day, hour, Number(minute) - offset, second].map(Number)
  const moment = new Date(Date.UTC(...(numbers as [number, number, number, number, number, number])))
  return `${moment.toISOString().slice(0, -5)}${fraction}+00:00`
}

/** `{1,2}`, `{{a,"b c"},{NULL,d}}`, `[0:1]={1,2}`. */
function arrayValue(text: string, element: number, types: PgTypes): JsonValue {
  const from = text.indexOf('{')
  if (from < 0) return text
  const reader = { text, at: from }
  return readArray(reader, (item) => pgValue(item, element, types))
}

function readArray(reader: { text: string; at: number }, convert: (text: string) => JsonValue): JsonValue[] {
  const list: JsonValue[] = []
  reader.at++
  while (reader.at < reader.text.length) {
    const character = reader.text[reader.at]
    if (character === '}') {
      reader.at++
      break
    }
    if (character === ',') reader.at++
    else if (character === '{') list.push(readArray(reader, convert))
    else if (character === '"') list.push(convert(readQuoted(reader)))
    else list.push(readBare(reader, convert))
  }
  return list
}

function readQuoted(reader: { text: string; at: number }): string {
  let value = ''
  for (reader.at++; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]
    if (character === '"') {
      reader.at++
      break
    }
    if (character === '\\') reader.at++
    value += reader.text[reader.at]
  }
  return value
}

function readBare(reader: { text: string; at: number }, convert: (text: string) => JsonValue): JsonValue {
  const match = /^[^,{}"]+/.exec(reader.text.slice(reader.at, reader.at + 10_000))?.[0] ?? ''
  reader.at += Math.max(1, match.length)
  return match === 'NULL' ? null : convert(match)
}

/** Lists and maps as a parameter: JSON for most, an array where the server says that it wants one. */
export class StructuredParam {
  constructor(private readonly value: JsonValue) {}

  toString(): string {
    return writeJson(this.value)
  }

  arrayText(): string {
    return Array.isArray(this.value) ? arrayText(this.value) : this.toString()
  }
}

/** A value of JSON as the driver takes it: text, for which the server knows the type. */
export function pgParam(value: JsonValue): string | null | StructuredParam {
  if (value === null) return null
  return Array.isArray(value) || isJsonObject(value) ? new StructuredParam(value) : scalarText(value)
}

export function arrayText(list: readonly JsonValue[]): string {
  const items = list.map((item) => {
    if (item === null) return 'NULL'
    if (Array.isArray(item)) return arrayText(item)
    return `"${scalarText(item).replace(/["\\]/g, '\\$&')}"`
  })
  return `{${items.join(',')}}`
}
