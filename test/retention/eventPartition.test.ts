// Promise: partition bounds follow from the id layout, months roll over years, and ids of the database
// function's layout are never taken for old or new ones of ours.
import { describe, expect, it } from 'vitest'
import { composeSnowflake } from '../../src/domain/ids/snowflake.js'
import {
  agedRanges,
  firstIdAt,
  isCovered,
  isPlainName,
  monthPartitions,
  overlaps,
  parsePartitionBound,
} from '../../src/domain/retention/eventPartition.js'

const NOVEMBER = Date.UTC(2026, 10, 16, 2, 22)

describe('monthPartitions', () => {
  it('gives the current month and those ahead, over the turn of the year, without gaps', () => {
    const months = monthPartitions(NOVEMBER, 3)
    expect(months.map((month) => month.name)).toEqual([
      'event_y2026m11',
      'event_y2026m12',
      'event_y2027m01',
      'event_y2027m02',
    ])
    for (const [index, month] of months.entries()) {
      expect(month.to).toBeGreaterThan(month.from)
      if (index > 0) expect(month.from).toBe(months[index - 1]!.to)
    }
  })

  it('holds every id minted in the month and none of its neighbours', () => {
    const [month] = monthPartitions(NOVEMBER, 0)
    const holds = (ms: number, machine: number, sequence: number) => {
      const id = composeSnowflake(ms, machine, sequence)
      return id >= month!.from && id < month!.to
    }
    expect(holds(Date.UTC(2026, 10, 1), 0, 0)).toBe(true)
    expect(holds(Date.UTC(2026, 11, 1) - 1, 1023, 4095)).toBe(true)
    expect(holds(Date.UTC(2026, 10, 1) - 1, 1023, 4095)).toBe(false)
    expect(holds(Date.UTC(2026, 11, 1), 0, 0)).toBe(false)
  })

  it('takes the last day of a long month for what it is', () => {
    const names = monthPartitions(Date.UTC(2027, 0, 31, 23, 59), 1).map((month) => month.name)
    expect(names).toEqual(['event_y2027m01', 'event_y2027m02'])
  })
})

describe('parsePartitionBound', () => {
  it('reads what Postgres prints', () => {
    expect(parsePartitionBound("FOR VALUES FROM ('1') TO ('9223372036854775807')")).toEqual({
      from: 1n,
      to: 9223372036854775807n,
    })
    expect(parsePartitionBound("FOR VALUES FROM (MINVALUE) TO ('5')")?.from).toBe(-(2n ** 63n))
    expect(parsePartitionBound("FOR VALUES FROM ('5') TO (MAXVALUE)")?.to).toBe(2n ** 63n)
  })

  it('knows no range in anything else', () => {
    for (const text of ['DEFAULT', 'FOR VALUES WITH (modulus 16, remainder 0)', "FOR VALUES IN ('1')"])
      expect(parsePartitionBound(text)).toBeUndefined()
  })
})

describe('ranges', () => {
  it('touching ranges do not overlap', () => {
    expect(overlaps({ from: 0n, to: 5n }, { from: 5n, to: 9n })).toBe(false)
    expect(overlaps({ from: 0n, to: 6n }, { from: 5n, to: 9n })).toBe(true)
  })

  it('several may cover one, a gap does not', () => {
    const wanted = { from: 2n, to: 8n }
    expect(
      isCovered(wanted, [
        { from: 5n, to: 9n },
        { from: 0n, to: 5n },
      ]),
    ).toBe(true)
    expect(
      isCovered(wanted, [
        { from: 0n, to: 4n },
        { from: 5n, to: 9n },
      ]),
    ).toBe(false)
    expect(isCovered(wanted, [])).toBe(false)
  })
})

describe('agedRanges', () => {
  const cutoff = NOVEMBER - 90 * 86_400_000

  it('holds ids of our layout up to the cutoff', () => {
    const [ours] = agedRanges(cutoff, NOVEMBER)
    expect(ours!.to).toBe(firstIdAt(cutoff))
  })

  it('holds ids of the database function up to the cutoff, and nothing our layout will reach soon', () => {
    const [, theirs] = agedRanges(cutoff, NOVEMBER)
    expect(theirs!.from).toBeGreaterThan(firstIdAt(NOVEMBER))
    expect(theirs!.to).toBe(BigInt(cutoff - 1_704_067_200_000) << 23n)
  })

  it('has only our own range when the cutoff is too far back for the other', () => {
    expect(agedRanges(Date.UTC(2024, 5, 1), NOVEMBER)).toHaveLength(1)
  })
})

it('a name for DDL needs no quotes', () => {
  expect(isPlainName('event_2026_q1')).toBe(true)
  for (const name of ['Event', 'a b', 'x;drop table y', '1a', '', 'a'.repeat(64)]) expect(isPlainName(name)).toBe(false)
})
