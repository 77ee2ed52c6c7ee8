// Promise: JSON text is read without loss, and text from outside that could do harm later is refused
// with the exact place named.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson, parseJsonStrict } from '../../src/domain/json/parse.js'
import { JsonReader } from '../../src/domain/json/reader.js'
import { Float, JSON_DEPTH_MAX, type JsonObject } from '../../src/domain/json/value.js'
import { CpError } from '../../src/errors.js'

function refusal(run: () => unknown): CpError {
  try {
    run()
  } catch (error) {
    if (error instanceof CpError) return error
    throw error
  }
  throw new Error('expected a refusal')
}

const strict = (text: string, maxDepth = 64) => parseJsonStrict(text, { maxDepth })

describe('parseJson', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['-7', -7],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['612345678901236660', 612345678901236660n],
    ['99999999999999999999999999', 99999999999999999999999999n],
    ['1.5', 1.5],
    ['1e-7', 1e-7],
    ['1.0', new Float(1)],
    ['1e5', new Float(100000)],
    ['1E+16', new Float(1e16)],
    ['-0.0', new Float(-0)],
    ['0.0', new Float(0)],
    ['1e400', new Float(Number.POSITIVE_INFINITY)],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toStrictEqual(value)
    expect(parseJson(` { "a" : [ ${text} , 1.5 ] } `)).toStrictEqual({ a: [value, 1.5] })
  })

  it('reads every number as the careful reader does', () => {
    const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`))
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.oneof(
          fc.constantFrom('0', '1', '9'),
          digits(18).map((text) => text.replace(/^0+(?=[0-9])/, '')),
        ),
        fc.option(fc.oneof(fc.constantFrom('0', '5', '50', '99999999999999999'), digits(20)), { nil: undefined }),
        fc.option(fc.constantFrom('e1', 'E-2', 'e+20'), { nil: undefined }),
      )
      .map(
        ([sign, whole, fraction, power]) =>
          `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${power ?? ''}`,
      )
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 4 }), (numbers) => {
        for (const text of [
          numbers[0]!,
          `[${numbers.join(',')}]`,
          `{"a":${numbers[0]},"b":[ ${numbers.join(' , ')}]}`,
        ]) {
          const careful = new JsonReader(text, { depthMax: 10, strict: false }).readDocument()
          expect(parseJson(text)).toStrictEqual(careful)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps -0.0 apart from 0.0', () => {
    expect(Object.is((parseJson('-0.0') as Float).value, -0)).toBe(true)
    expect(Object.is(parseJson('-0'), 0)).toBe(true)
  })

  it.each(['{"__proto__":{"polluted":1}}', '{"__proto__":{"polluted":1},"x":1.0}'])(
    'keeps __proto__ as data: %s',
    (text) => {
      const value = parseJson(text) as JsonObject
      expect(Object.keys(value)[0]).toBe('__proto__')
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(({} as JsonObject)['polluted']).toBeUndefined()
    },
  )

  it.each([
    ['{"a":1,}', 7],
    ['[1,2', 4],
    ['01', 0],
    ['1.', 2],
    ['-', 1],
    ['.5', 0],
    ['1e', 2],
    ['tru', 0],
    ['"a\nb"', 1],
    ['"\\x"', 1],
    ['"\\u12g4"', 1],
    ['"\\', 0],
    ['"abc', 0],
    ['[1]]', 3],
    ['', 0],
    ['NaN', 0],
    ['{1:2}', 1],
    ['{"a"}', 4],
  ])('refuses %j and names the offset', (text, offset) => {
    const error = refusal(() => parseJson(text))
    expect(error.code).toBe('invalid_input')
    expect(error.details['offset']).toBe(offset)
  })

  it('refuses nesting that would overflow a stack later', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    expect(refusal(() => parseJson(deep)).message).toContain(`${JSON_DEPTH_MAX} levels`)
    expect(refusal(() => parseJson('{"a":'.repeat(100_001))).code).toBe('invalid_input')
    const allowed = '['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX)
    expect(Array.isArray(parseJson(allowed))).toBe(true)
  })

  it('refuses integers of absurd length', () => {
    expect(refusal(() => parseJson('9'.repeat(4301))).message).toContain('4300')
    expect(typeof parseJson('9'.repeat(4300))).toBe('bigint')
  })

  it('agrees with JSON.parse wherever no number is at stake', () => {
    const leaf = fc.oneof(fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null), fc.integer())
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(leaf, fc.array(tie('node')), fc.dictionary(fc.string({ unit: 'binary' }), tie('node'))),
    })).node
    fc.assert(
      fc.property(tree, fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(text)).toEqual(JSON.parse(text))
        // A float somewhere sends the text through our own reader.
        expect(parseJson(`[1.5,${text}]`)).toEqual([1.5, JSON.parse(text)])
      }),
    )
  })

  it('refuses what JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      '.',
      '0',
      'e',
      '\\',
      'true',
      'null',
      ' ',
      '\n',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('')
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        if (valid) parseJson(text)
        else expect(refusal(() => parseJson(text)).code).toBe('invalid_input')
      }),
      { numRuns: 2000 },
    )
  })
})

describe('parseJsonStrict', () => {
  it.each([
    ['syntax', '{"a":{"b":[1,x]}}', '/a/b/1'],
    ['a duplicate key', '{"a":[{"k":1,"k":2}]}', '/a/0/k'],
    ['a duplicate __proto__', '{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['a float out of range', '{"a":{"n":1e400}}', '/a/n'],
    ['NUL in a text', '{"a":["\\u0000"]}', '/a/0'],
    ['NUL in a key', '{"a":{"x\\u0000":1}}', '/a'],
    ['half a pair', '{"a":"\\ud800"}', '/a'],
    ['half a pair in a key', '{"\\udc00":1}', ''],
    ['a pointer that needs escapes', '{"a/b":{"~":1e999}}', '/a~1b/~0'],
  ])('refuses %s with a pointer', (_what, text, pointer) => {
    const error = refusal(() => strict(text))
    expect(error.code).toBe('invalid_input')
    expect(error.details['pointer']).toBe(pointer)
  })

  it('refuses nesting beyond the limit without recursing', () => {
    expect(strict('[[[]]]', 3)).toEqual([[[]]])
    expect(refusal(() => strict('[[[[]]]]', 3)).details['pointer']).toBe('/0/0/0')
    expect(refusal(() => strict('['.repeat(1_000_000))).code).toBe('invalid_input')
    expect(refusal(() => strict('{"a":'.repeat(1_000_000), 1_000_000)).code).toBe('invalid_input')
  })

  it('reads good bodies like parseJson', () => {
    const text = '{"id":612345678901236660,"ok":[true,null,"é😀\\ud83d\\ude00"],"f":1.0}'
    expect(strict(text)).toStrictEqual(parseJson(text))
  })
})
