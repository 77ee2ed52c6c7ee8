// Promise: a replay question is understood completely or refused with the name of the parameter.

import { describe, expect, it } from 'vitest'
import { parseReplayQuery } from '../../src/domain/replay/replayQuery.js'
import { CpError } from '../../src/errors.js'

const parse = (parameters: Record<string, string>) => parseReplayQuery('cp', { execution_id: '1', ...parameters })

describe('parseReplayQuery', () => {
  it('fills in what was not said', () => {
    expect(parseReplayQuery('cp', { execution_id: '612345678901236660' })).toEqual({
      tenantId: 'default',
      organizationId: 'default',
      executionId: 612345678901236660n,
      projection: 'all',
      cutoff: null,
      limit: 10_000,
      resolvePayloads: false,
      ids: 'number',
    })
  })

  it.each([
    [{ as_of_event_id: '9223372036854775807' }, { kind: 'event_id', eventId: 9223372036854775807n }],
    [{ as_of_position: '5' }, { kind: 'event_id', eventId: 5 }],
    [{ as_of_version: '3' }, { kind: 'version', version: 3 }],
    [{ as_of_time: '2026-03-01T00:01:10Z' }, { kind: 'time', time: '2026-03-01T00:01:10.000000+00:00' }],
    [{ as_of_time: '2026-03-01T02:01:10.5+02:00' }, { kind: 'time', time: '2026-03-01T00:01:10.500000+00:00' }],
  ])('reads the cutoff %j', (parameters, cutoff) => {
    expect(parse(parameters as Record<string, string>).cutoff).toEqual(cutoff)
  })

  it('clamps the limit and reads switches', () => {
    expect([parse({ limit: '0' }).limit, parse({ limit: '-5' }).limit, parse({ limit: '9999999' }).limit]).toEqual([
      1, 1, 100_000,
    ])
    expect(parse({ resolve_payloads: 'Yes' }).resolvePayloads).toBe(true)
    expect(parse({ ids: 'string' }).ids).toBe('string')
  })

  it.each([
    [{ execution_id: 'abc' }, 'execution_id'],
    [{ execution_id: '9223372036854775808' }, 'execution_id'],
    [{ as_of_event_id: '1.5' }, 'as_of_event_id'],
    [{ as_of_time: 'yesterday' }, 'as_of_time'],
    [{ as_of_time: '' }, 'as_of_time'],
    [{ limit: 'many' }, 'limit'],
    [{ resolve_payloads: 'maybe' }, 'resolve_payloads'],
    [{ ids: 'hex' }, 'ids'],
    [{ as_of_evnt_id: '5' }, 'as_of_evnt_id'],
  ])('refuses %j', (parameters, field) => {
    try {
      parse(parameters as Record<string, string>)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(CpError)
      expect((error as CpError).code).toBe('invalid_input')
      expect((error as CpError).details['field']).toBe(field)
    }
  })

  it('refuses two cutoffs and names them', () => {
    expect(() => parse({ as_of_event_id: '0', as_of_time: '2026-03-01T00:00:00Z' })).toThrow(
      'Use only one replay cutoff: as_of_event_id, as_of_time were given',
    )
  })
})
