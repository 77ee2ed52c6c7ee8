// Promise: an instant keeps its microseconds and its meaning from any known spelling to the wire and to
// Postgres and back; a date that does not exist is refused with the field's name.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseWireTime,
  toPostgresTimestamp,
  type WireTime,
  wireTimeFromMicros,
  wireTimeFromMillis,
  wireTimeFromPostgres,
  wireTimeToMicros,
} from '../../src/domain/events/wireTime.js'
import { CpError } from '../../src/errors.js'

const instant = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })

describe('reading', () => {
  it.each([
    ['2026-11-16T02:22:39.123456+00:00', '2026-11-16T02:22:39.123456+00:00'],
    ['2026-11-16T02:22:39Z', '2026-11-16T02:22:39.000000+00:00'],
    ['2026-11-16t02:22:39.5z', '2026-11-16T02:22:39.500000+00:00'],
    ['2026-11-16 02:22:39', '2026-11-16T02:22:39.000000+00:00'],
    ['2026-11-16 02:22:39.123', '2026-11-16T02:22:39.123000+00:00'],
    ['2026-11-16T02:22:39.123456789Z', '2026-11-16T02:22:39.123456+00:00'],
    ['2026-11-16T02:22:39.999999999Z', '2026-11-16T02:22:39.999999+00:00'],
    ['2026-11-16T16:00:00+05:00', '2026-11-16T11:00:00.000000+00:00'],
    ['2026-01-01T01:30:00+0530', '2025-12-31T20:00:00.000000+00:00'],
    ['2024-02-28T23:30:00-01', '2024-02-29T00:30:00.000000+00:00'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000+00:00'],
    ['1969-12-31T23:59:59.5-00:30', '1970-01-01T00:29:59.500000+00:00'],
  ])('%s', (text, expected) => {
    expect(parseWireTime(text, 'timestamp')).toBe(expected)
  })

  it('takes null, nothing and the empty text as no time', () => {
    for (const value of [null, undefined, '']) expect(parseWireTime(value, 'x')).toBeUndefined()
  })

  it.each([
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-04-00T00:00:00Z',
    '2026-04-01T24:00:00Z',
    '2026-04-01T00:60:00Z',
    '2026-04-01T00:00:61Z',
    '2026-04-01T00:00:00+24:00',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '2026-04-01',
    'yesterday',
    'infinity',
    ' 2026-04-01T00:00:00Z',
    `2026-04-01T00:00:00.${'1'.repeat(100_000)}Z`,
    1_780_488_000_000,
    true,
    {},
  ])('refuses %j and names the field', (value) => {
    try {
      parseWireTime(value, '/events/0/created_at')
    } catch (error) {
      expect(error).toBeInstanceOf(CpError)
      expect((error as CpError).code).toBe('invalid_input')
      expect((error as CpError).message).toContain('/events/0/created_at')
      return
    }
    throw new Error('was accepted')
  })
})

describe('instants', () => {
  it('survive micros, text and Postgres', () => {
    fc.assert(
      fc.property(instant, (micros) => {
        const wire = wireTimeFromMicros(micros)
        expect(wireTimeToMicros(wire)).toBe(micros)
        expect(parseWireTime(wire, 'x')).toBe(wire)
        expect(wireTimeFromPostgres(toPostgresTimestamp(wire), 'x')).toBe(wire)
        expect(wireTimeFromPostgres(`${toPostgresTimestamp(wire)}+00`, 'x')).toBe(wire)
      }),
    )
  })

  it('agree with the calendar of the platform', () => {
    const range = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }
    fc.assert(
      fc.property(fc.date(range), (date) => {
        expect(wireTimeFromMillis(date.getTime())).toBe(date.toISOString().replace('Z', '000+00:00'))
      }),
    )
  })

  it('mean the same under any offset', () => {
    const sane = fc.bigInt({ min: -6_000_000_000_000_000n, max: 200_000_000_000_000_000n })
    fc.assert(
      fc.property(sane, fc.integer({ min: -1439, max: 1439 }), (micros, minutes) => {
        const local = wireTimeFromMicros(micros + BigInt(minutes) * 60_000_000n).slice(0, 26)
        const two = (value: number) => String(value).padStart(2, '0')
        const offset = `${minutes < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
        expect(wireTimeToMicros(parseWireTime(local + offset, 'x') as WireTime)).toBe(micros)
      }),
    )
  })

  it('sort as text', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        expect(wireTimeFromMicros(a) < wireTimeFromMicros(b)).toBe(a < b)
      }),
    )
  })

  it('go to Postgres without a zone and come back from its text', () => {
    const wire = wireTimeFromPostgres('2026-11-16 02:22:39.123456+00', 'created_at')
    expect(toPostgresTimestamp(wire)).toBe('2026-11-16 02:22:39.123456')
    expect(wireTimeFromPostgres('2026-11-16 02:22:39.1', 'created_at')).toBe('2026-11-16T02:22:39.100000+00:00')
    expect(wireTimeFromPostgres('2026-11-16 07:52:39+05:30', 'x')).toBe('2026-11-16T02:22:39.000000+00:00')
    expect(wireTimeFromPostgres('2026-11-16 02:22:39', 'x')).toBe('2026-11-16T02:22:39.000000+00:00')
    expect(wireTimeFromPostgres('2026-11-16 02:22:39.5+00', 'x')).toBe('2026-11-16T02:22:39.500000+00:00')
    expect(() => wireTimeFromPostgres('0044-03-15 12:00:00.5 BC', 'x')).toThrowError(/x holds/)
    expect(() => wireTimeFromPostgres('infinity', 'event_time')).toThrowError(/event_time/)
  })
})
