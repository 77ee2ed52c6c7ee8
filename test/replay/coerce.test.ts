// Promise: loosely typed values are read the same way in every place, down to odd digits and spaces.

import { describe, expect, it } from 'vitest'
import { Float, type JsonValue } from '../../src/domain/json/value.js'
import { firstTruthy, increment, integerOf, isTruthy, textOf } from '../../src/domain/replay/coerce.js'

describe('truth', () => {
  it('knows seven kinds of nothing', () => {
    const nothing: JsonValue[] = [null, false, 0, 0n, new Float(0), new Float(-0), '', [], {}]
    for (const value of nothing) expect(isTruthy(value)).toBe(false)
    const something: JsonValue[] = [true, 1, 1n, 0.5, new Float(Number.NaN), '0', 'false', [0], { a: null }]
    for (const value of something) expect(isTruthy(value)).toBe(true)
  })

  it('falls back to the last value, whatever it is', () => {
    expect(firstTruthy(0, null)).toBe(null)
    expect(firstTruthy(null, 0)).toBe(0)
    expect(firstTruthy('', 'a', 'b')).toBe('a')
    expect(firstTruthy(undefined, undefined)).toBe(null)
  })
})

describe('text', () => {
  it.each<[JsonValue, string]>([
    ['x', 'x'],
    [7, '7'],
    [9007199254740993n, '9007199254740993'],
    [true, 'True'],
    [false, 'False'],
    [new Float(7), '7.0'],
    [new Float(1e16), '1e+16'],
    [2.5, '2.5'],
    [new Float(Number.NaN), 'nan'],
    [new Float(Number.NEGATIVE_INFINITY), '-inf'],
    [{ b: 1, a: [2] }, '{"a":[2],"b":1}'],
  ])('%o is %s', (value, text) => expect(textOf(value)).toBe(text))
})

describe('integer', () => {
  it.each<[JsonValue, number | bigint]>([
    [7, 7],
    [true, 1],
    [-2.9, -2],
    [-0.5, 0],
    [new Float(-0), 0],
    [new Float(1e16), 10000000000000000n],
    [' 12 ', 12],
    ['+7', 7],
    ['-0', 0],
    ['1_000', 1000],
    ['٣٤', 34],
    ['𝟗𝟎', 90],
    ['\u001c5\u0085', 5],
    ['9223372036854775807', 9223372036854775807n],
    ['00000000000000000000007', 7],
  ])('%o is %s', (value, integer) => expect(integerOf(value)).toBe(integer))

  it.each<[JsonValue]>([
    ['5.0'],
    [''],
    [' '],
    ['0x1f'],
    ['1__0'],
    ['_1'],
    ['1_'],
    ['\ufeff1'],
    ['9'.repeat(4301)],
    [null],
    [[4]],
    [{}],
    [new Float(Number.NaN)],
    [new Float(Number.POSITIVE_INFINITY)],
  ])('%o is none', (value) => expect(integerOf(value)).toBeUndefined())

  it('counts on beyond what a double can hold', () => {
    expect(increment(Number.MAX_SAFE_INTEGER)).toBe(9007199254740992n)
    expect(increment(41)).toBe(42)
  })
})
