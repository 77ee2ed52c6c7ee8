// Promise: what is written reads back as the same value, numbers included.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, floatValue, integerValue, JSON_DEPTH_MAX, type JsonValue } from '../../src/domain/json/value.js'
import { writeJson, writeJsonPretty } from '../../src/domain/json/write.js'

const number = fc.oneof(
  fc.bigInt().map(integerValue),
  fc.integer(),
  fc.double({ noNaN: true }).map(floatValue),
  fc.constantFrom<JsonValue>(new Float(1), new Float(-0), new Float(0), new Float(1e16), new Float(1e21)),
)
const text = fc.string({ unit: 'binary' })
const json = fc.letrec<{ node: JsonValue }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    number,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('node')),
    fc.dictionary(text, tie('node')) as fc.Arbitrary<JsonValue>,
  ),
})).node

describe('writeJson', () => {
  it('writes every kind of number recognisably', () => {
    const value = [1, 612345678901236660n, 1.5, new Float(1), new Float(1e16), new Float(-0), 1e-7]
    expect(writeJson(value)).toBe('[1,612345678901236660,1.5,1.0,1e+16,-0.0,1e-07]')
    expect(() => writeJson(new Float(Number.NaN))).toThrow('NaN')
  })

  it('reads back as the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(parseJson(writeJson(value))).toEqual(value)
        expect(parseJson(writeJsonPretty(value))).toEqual(value)
      }),
    )
  })

  it('keeps the order of keys and of __proto__', () => {
    expect(writeJson(parseJson('{"z":1,"__proto__":{"q":2.0},"a":3}'))).toBe('{"z":1,"__proto__":{"q":2.0},"a":3}')
  })

  it('indents like JSON.stringify', () => {
    const value = { a: [1, { b: [] }], c: {}, d: 'x' }
    expect(writeJsonPretty(value)).toBe(JSON.stringify(value, null, 2))
    expect(writeJsonPretty(value, 4)).toBe(JSON.stringify(value, null, 4))
  })

  it('writes everything that parseJson can read', () => {
    const deep = '['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX)
    expect(writeJson(parseJson(deep))).toBe(deep)
    expect(writeJsonPretty(parseJson(deep)).length).toBeGreaterThan(deep.length)
  })
})
