// Promise: an event written to the wire comes back the same, ids digit for digit; foreign envelopes are read
// tolerantly, but never without an id and never with a bent time.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEnvelope, writeEnvelope } from '../../src/domain/events/envelope.js'
import type { EventRecord } from '../../src/domain/events/eventRecord.js'
import { type WireTime, wireTimeFromMicros } from '../../src/domain/events/wireTime.js'
import { INT64_MAX } from '../../src/domain/ids/ids.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonValue } from '../../src/domain/json/value.js'
import { CpError } from '../../src/errors.js'

const NOW = '2026-11-16T02:22:39.000000+00:00' as WireTime
const parse = (value: JsonValue) => parseEnvelope(value, { now: NOW })

function refusedField(value: JsonValue): unknown {
  try {
    parseEnvelope(value, { now: NOW, at: '/events/2' })
  } catch (error) {
    if (error instanceof CpError && error.code === 'invalid_input') return error.details['field']
    throw error
  }
  return 'accepted'
}

const id = fc.bigInt({ min: 0n, max: INT64_MAX }).map(String)
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => !value.includes('\0'))
const json = fc
  .jsonValue()
  .filter((value) => value !== null)
  .map((value) => parseJson(JSON.stringify(value)))
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const event = fc.record({
  executionId: id,
  eventId: id,
  catalogId: id,
  parentEventId: maybe(id),
  parentExecutionId: maybe(id),
  prevEventId: maybe(id),
  eventType: text,
  nodeId: maybe(text),
  nodeName: maybe(text),
  nodeType: maybe(text),
  status: maybe(text),
  workerId: maybe(text),
  duration: maybe(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)),
  context: maybe(json),
  result: maybe(json),
  meta: maybe(json),
  error: maybe(text),
  stackTrace: maybe(text),
  tenantId: text,
  organizationId: text,
  createdAt: fc.bigInt({ min: 0n, max: 4_000_000_000_000_000n }).map(wireTimeFromMicros),
  createdAtGiven: fc.constant(true),
}) as unknown as fc.Arbitrary<EventRecord>

describe('round trip', () => {
  it('loses nothing', () => {
    fc.assert(
      fc.property(event, maybe(id), (record, version) => {
        const parsed = parse(parseJson(writeEnvelope(record, version)))
        expect(parsed.event).toEqual(record)
        expect(parsed.streamVersion).toBe(version)
        expect(parsed.extra).toEqual({})
      }),
    )
  })

  it('writes ids as bare integers and the time with microseconds', () => {
    const { event: record } = parse({
      event_id: 320816801799737345n,
      execution_id: '320816801799737344',
      tenant_id: 'default',
      organization_id: 'default',
      timestamp: '2026-11-16T01:00:00Z',
    })
    expect(writeEnvelope(record, '12')).toBe(
      '{"event_id":320816801799737345,"execution_id":320816801799737344,"catalog_id":0,"stream_version":12,' +
        '"tenant_id":"default","organization_id":"default","event_type":"","timestamp":"2026-11-16T01:00:00.000000+00:00"}',
    )
  })
})

describe('foreign envelopes', () => {
  it('need an id and nothing else', () => {
    expect(parse({ event_id: 7 })).toMatchObject({
      event: {
        eventId: '7',
        executionId: '0',
        catalogId: '0',
        tenantId: undefined,
        organizationId: undefined,
        createdAt: NOW,
        createdAtGiven: false,
      },
    })
  })

  it('may leave fields empty', () => {
    const empty = {
      event_id: 7,
      execution_id: '',
      catalog_id: null,
      parent_event_id: '',
      duration: '',
      tenant_id: '',
      result: null,
      timestamp: '',
    }
    expect(parse(empty).event).toMatchObject({ executionId: '0', tenantId: undefined, createdAt: NOW })
    expect(parse(empty).event.result).toBeUndefined()
  })

  it('keep the right instant, parent and worker', () => {
    const { event: record } = parse({
      event_id: 7,
      timestamp: '2026-11-16T16:00:00+05:00',
      created_at: '2020-01-01T00:00:00Z',
      parent_execution_id: 5,
      worker_id: 'w',
    })
    expect(record).toMatchObject({
      createdAt: '2026-11-16T11:00:00.000000+00:00',
      parentExecutionId: '5',
      workerId: 'w',
    })
    expect(parse({ event_id: 7, timestamp: '', created_at: '2020-01-01 00:00:00' }).event.createdAt).toBe(
      '2020-01-01T00:00:00.000000+00:00',
    )
  })

  it('keep the keys we do not know', () => {
    expect(parse({ event_id: 7, trace_component: 'x', custom: { a: [1] } }).extra).toEqual({
      trace_component: 'x',
      custom: { a: [1] },
    })
  })

  it.each<[JsonValue, string]>([
    ['text', '/events/2'],
    [[1], '/events/2'],
    [null, '/events/2'],
    [{}, '/events/2/event_id'],
    [{ event_id: null }, '/events/2/event_id'],
    [{ event_id: -1 }, '/events/2/event_id'],
    [{ event_id: 1, execution_id: 'x' }, '/events/2/execution_id'],
    [{ event_id: 1, timestamp: 'soon' }, '/events/2/timestamp'],
    [{ event_id: 1, created_at: 5 }, '/events/2/created_at'],
    [{ event_id: 1, node_name: 5 }, '/events/2/node_name'],
    [{ event_id: 1, duration: {} }, '/events/2/duration'],
    [{ event_id: 1, stream_version: 'x' }, '/events/2/stream_version'],
  ])('%j is refused at %s', (value, field) => {
    expect(refusedField(value)).toBe(field)
  })
})
