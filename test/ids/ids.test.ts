// Promise: an id keeps every digit, has one spelling only, and anything else is refused with its field named.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareIds,
  INT64_MAX,
  INT64_MIN,
  parseEventId,
  parseExecutionId,
  parseInt64,
  parseOptionalId,
} from '../../src/domain/ids/ids.js'
import { CpError } from '../../src/errors.js'

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX })

function refusal(run: () => unknown): CpError {
  try {
    run()
  } catch (error) {
    if (error instanceof CpError) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('parsing', () => {
  it('takes numbers, bigints and digits, and gives one text for all three', () => {
    for (const value of [320532067639271431n, '320532067639271431']) {
      expect(parseExecutionId(value)).toBe('320532067639271431')
    }
    expect(parseExecutionId(42)).toBe('42')
    expect(parseExecutionId(0)).toBe('0')
    expect(parseExecutionId(-0)).toBe('0')
    expect(parseExecutionId('9223372036854775807')).toBe('9223372036854775807')
  })

  it('keeps all signed 64-bit values where a sign is allowed', () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(parseInt64(value, 'x', 'any')).toBe(value.toString())
        expect(parseInt64(value.toString(), 'x', 'any')).toBe(value.toString())
      }),
    )
  })

  it.each([
    ['leading zero', '007'],
    ['plus sign', '+7'],
    ['space', ' 7'],
    ['trailing newline', '7\n'],
    ['fraction', '7.0'],
    ['exponent', '1e3'],
    ['minus zero', '-0'],
    ['hexadecimal', '0x10'],
    ['other digits', '٣'],
    ['empty', ''],
    ['overlong', '1'.repeat(100_000)],
    ['one above the top', '9223372036854775808'],
    ['20 digits', '10000000000000000000'],
    ['bigint above the top', 2n ** 63n],
    ['fractional number', 1.5],
    ['not a number', Number.NaN],
    ['number that lost digits', 2 ** 53],
    ['boolean', true],
    ['null', null],
    ['object', { id: 1 }],
    ['array', ['1']],
    ['negative text', '-1'],
    ['negative number', -1],
  ])('refuses %s and names the field', (_, value) => {
    const error = refusal(() => parseEventId(value, '/events/3/event_id'))
    expect(error.code).toBe('invalid_input')
    expect(error.details).toEqual({ field: '/events/3/event_id' })
    expect(error.message).toContain('/events/3/event_id')
    expect(error.message.length).toBeLessThan(200)
  })

  it('knows the exact ends of the range', () => {
    expect(parseInt64('-9223372036854775808', 'x', 'any')).toBe('-9223372036854775808')
    expect(refusal(() => parseInt64('-9223372036854775809', 'x', 'any')).code).toBe('invalid_input')
  })

  it('treats absent, null and empty as no id, but nothing else', () => {
    for (const value of [undefined, null, '']) expect(parseOptionalId(parseEventId, value)).toBeUndefined()
    expect(parseOptionalId(parseEventId, 0)).toBe('0')
    expect(refusal(() => parseOptionalId(parseEventId, 'x', 'parent_event_id')).details).toEqual({
      field: 'parent_event_id',
    })
  })
})

describe('order', () => {
  it('is the numeric order', () => {
    fc.assert(
      fc.property(int64, int64, (a, b) => {
        expect(compareIds(a.toString(), b.toString())).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
      {
        examples: [
          [-10n, -9n],
          [9n, 10n],
          [-1n, 0n],
          [99n, 100n],
        ],
      },
    )
  })
})
