// Reads the golden vectors. Numbers that JSON.parse would spoil are tagged in the file; here they
// become values of the lossless convention again.

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import {
  Float,
  integerValue,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setKey,
} from '../../src/domain/json/value.js'

export interface Vector {
  id: string
  kind: string
  name: string
  tags: string[]
  input: JsonObject
  expect: JsonObject
}

export function untag(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(untag)
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value)
  if (keys.length === 1) {
    const tagged = value[keys[0]!]
    if (keys[0] === '$int') return integerValue(BigInt(String(tagged)))
    if (keys[0] === '$float') return new Float(parseFloatText(String(tagged)))
  }
  const object: JsonObject = {}
  for (const key of keys) setKey(object, key, untag(value[key]!))
  return object
}

export function readVectors(kind: string): Vector[] {
  const text = readFileSync(new URL('../fixtures/replay.json', import.meta.url), 'utf8')
  const file = JSON.parse(text) as { cases: Vector[] }
  return file.cases
    .filter((vector) => vector.kind === kind)
    .map((vector) => ({
      ...vector,
      input: untag(vector.input) as JsonObject,
      expect: untag(vector.expect) as JsonObject,
    }))
}

export function readBenchLog(): JsonObject {
  const packed = readFileSync(new URL('../fixtures/bench-100k.json.gz', import.meta.url))
  return untag(JSON.parse(gunzipSync(packed).toString('utf8')) as JsonValue) as JsonObject
}

function parseFloatText(text: string): number {
  if (text === 'nan' || text === 'NaN') return Number.NaN
  return Number(text.replace(/^(-?)inf(inity)?$/i, '$1Infinity'))
}
