// Promise: ids are composed and read bit by bit as the NoETL server does, and an id of the database function
// is recognised although its layout differs.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  composeSnowflake,
  decomposeSnowflake,
  inspectSnowflake,
  SEQUENCE_MAX,
  SNOWFLAKE_EPOCH_MS,
  SNOWFLAKE_LAST_MS,
} from '../../src/domain/ids/snowflake.js'
import { CpError } from '../../src/errors.js'
import { idVectors } from './idVectors.js'

const NOW = Date.UTC(2026, 10, 16)
const DAY_MS = 86_400_000

function databaseId(unixMs: number, sequence: number): bigint {
  return (BigInt(unixMs - SNOWFLAKE_EPOCH_MS) << 23n) | (1n << 18n) | BigInt(sequence % 1024)
}

describe('layout', () => {
  it('has the pinned constants', () => {
    expect(String(SNOWFLAKE_EPOCH_MS)).toBe(idVectors.constants['epoch_unix_ms'])
    expect(String(SNOWFLAKE_LAST_MS)).toBe(idVectors.constants['last_valid_unix_ms'])
    expect(SEQUENCE_MAX).toBe(idVectors.constants['max_sequence'])
  })

  it.each(idVectors.snowflake_compose)('composes and reads $id', ({ unix_ms, machine_id, sequence, id }) => {
    expect(composeSnowflake(Number(unix_ms), machine_id, sequence).toString()).toBe(id)
    expect(decomposeSnowflake(BigInt(id))).toEqual({
      layout: 'app',
      unixMs: Number(unix_ms),
      machineId: machine_id,
      sequence,
    })
  })

  it.each(idVectors.snowflake_decompose)('reads $id', ({ id, unix_ms, machine_id, sequence }) => {
    const expected = { layout: 'app', unixMs: Number(unix_ms), machineId: machine_id, sequence }
    expect(inspectSnowflake(BigInt(id), NOW)).toEqual(expected)
  })

  it.each([
    [SNOWFLAKE_EPOCH_MS - 1, 0, 0],
    [SNOWFLAKE_LAST_MS + 1, 0, 0],
    [1.5 + SNOWFLAKE_EPOCH_MS, 0, 0],
    [NOW, 1024, 0],
    [NOW, -1, 0],
    [NOW, 0, 4096],
    [Number.NaN, 0, 0],
  ])('refuses to compose %d/%d/%d', (ms, machine, sequence) => {
    expect(() => composeSnowflake(ms, machine, sequence)).toThrowError(CpError)
  })

  it('refuses to read what is not an id', () => {
    expect(() => decomposeSnowflake(-1n)).toThrowError(CpError)
    expect(() => decomposeSnowflake(2n ** 63n)).toThrowError(CpError)
  })
})

describe('telling the layouts apart', () => {
  it('reads the measured pair of one instant', () => {
    const app = inspectSnowflake(380521230614134784n, NOW)
    const database = inspectSnowflake(761042461220143106n, NOW)
    expect(app.layout).toBe('app')
    expect(database).toMatchObject({ layout: 'database', machineId: 1 })
    expect(Math.abs(app.unixMs - database.unixMs)).toBeLessThan(10)
  })

  it('recognises every recent database id', () => {
    // Before the half-way point between the epoch and now, the instant alone fits both layouts.
    const halfWay = SNOWFLAKE_EPOCH_MS + (NOW - SNOWFLAKE_EPOCH_MS) / 2 + DAY_MS
    fc.assert(
      fc.property(fc.integer({ min: Math.ceil(halfWay), max: NOW }), fc.nat(1023), (ms, sequence) => {
        expect(inspectSnowflake(databaseId(ms, sequence), NOW)).toEqual({
          layout: 'database',
          unixMs: ms,
          machineId: 1,
          sequence,
        })
      }),
    )
  })

  it('never takes an application id of the past for a database id', () => {
    const time = fc.integer({ min: SNOWFLAKE_EPOCH_MS, max: NOW })
    const machine = fc.oneof(fc.constant(64), fc.nat(1023))
    fc.assert(
      fc.property(time, machine, fc.nat(4095), (ms, machineId, sequence) => {
        const read = inspectSnowflake(composeSnowflake(ms, machineId, sequence), NOW)
        expect(read).toMatchObject({ layout: 'app', unixMs: ms, machineId, sequence })
        if (machineId !== 64) expect(read.alternative).toBeUndefined()
      }),
    )
  })

  it('says so when both readings are possible', () => {
    const old = inspectSnowflake(databaseId(Date.UTC(2024, 5, 1), 5), NOW)
    expect(old.layout).toBe('app')
    expect(old.alternative).toEqual({
      layout: 'database',
      unixMs: Date.UTC(2024, 5, 1),
      machineId: 1,
      sequence: 5,
    })
  })
})
