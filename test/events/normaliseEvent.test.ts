// Promise: the NoETL server's request fields become its columns, without what it lost on the way, and a bad
// field is refused by its pointer before anything is minted.

import { describe, expect, it } from 'vitest'
import { eventChecksum } from '../../src/domain/events/eventRecord.js'
import { type EventDefaults, normaliseEvent } from '../../src/domain/events/normaliseEvent.js'
import type { WireTime } from '../../src/domain/events/wireTime.js'
import { type EventId, parseExecutionId } from '../../src/domain/ids/ids.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { CpError } from '../../src/errors.js'

const NOW = '2026-11-16T02:22:39.000000+00:00' as WireTime
const DEFAULTS: EventDefaults = { mintEventId: () => '77' as EventId, now: NOW }
const BASE = { execution_id: 320816801799737345n, step: 'load', event_type: 'command.completed' }

const normalise = (more: JsonObject, defaults: Partial<EventDefaults> = {}) =>
  normaliseEvent({ ...BASE, ...more }, { ...DEFAULTS, ...defaults })

function refusedField(input: JsonObject, defaults: Partial<EventDefaults> = {}): unknown {
  try {
    normaliseEvent(input, {
      ...DEFAULTS,
      mintEventId: () => {
        throw new Error('minted for a refused event')
      },
      ...defaults,
    })
  } catch (error) {
    if (error instanceof CpError && error.code === 'invalid_input') return error.details['field']
    throw error
  }
  return 'accepted'
}

describe('defaults', () => {
  it('fill in everything the producer left out', () => {
    expect(normalise({ payload: { rows: 3 } })).toMatchObject({
      executionId: '320816801799737345',
      eventId: '77',
      eventIdGiven: false,
      eventType: 'command.completed',
      nodeId: 'load',
      nodeName: 'load',
      status: 'COMPLETED',
      result: { status: 'COMPLETED', context: { rows: 3 } },
      meta: { actionable: true, informative: true },
      tenantId: undefined,
      organizationId: undefined,
      createdAt: NOW,
      createdAtGiven: false,
      context: undefined,
    })
  })

  it('give way to what the producer said', () => {
    const event = normalise({
      event_id: '9',
      status: 'success',
      created_at: '2026-11-16 05:00:00.5+05:00',
      worker_id: 'w1',
      actionable: false,
      informative: false,
      meta: { attempt: 2, actionable: true },
      tenant_id: 't',
      parent_event_id: 5,
      duration: '1.5',
    })
    expect(event).toMatchObject({
      eventId: '9',
      eventIdGiven: true,
      status: 'success',
      createdAt: '2026-11-16T00:00:00.500000+00:00',
      createdAtGiven: true,
      workerId: 'w1',
      tenantId: 't',
      parentEventId: '5',
      duration: 1.5,
      result: { status: 'success' },
      meta: { attempt: 2, actionable: false, informative: false, worker_id: 'w1' },
    })
  })

  it('of a batch come from around it', () => {
    const { execution_id: _, ...item } = BASE
    const event = normaliseEvent(item, {
      ...DEFAULTS,
      executionId: parseExecutionId(5),
      workerId: 'w',
      actionable: false,
    })
    expect(event).toMatchObject({ executionId: '5', workerId: 'w', meta: { actionable: false, worker_id: 'w' } })
  })

  it('know both spellings of a field', () => {
    const event = normaliseEvent({ execution_id: 1, step: 's', name: 'call.error', context: { a: 1 } }, DEFAULTS)
    expect(event).toMatchObject({
      eventType: 'call.error',
      status: 'FAILED',
      result: { status: 'FAILED', context: { a: 1 } },
    })
  })
})

describe('result', () => {
  it.each([
    ['gs://b/x', 'gcs'],
    ['s3://b/x', 's3'],
    ['noetl://x', 'artifact'],
  ])('refers to %s in the tier %s', (uri, tier) => {
    expect(normalise({ result_kind: 'ref', result_uri: uri, payload: { a: 1 } }).result).toEqual({
      status: 'COMPLETED',
      reference: { store_tier: tier, logical_uri: uri },
    })
  })

  it('refers to other events', () => {
    expect(normalise({ result_kind: 'refs', event_ids: ['320816801799737345', 2] }).result).toEqual({
      status: 'COMPLETED',
      reference: { event_ids: [320816801799737345n, 2], total_parts: 2 },
    })
  })

  it('falls back to the payload when there is nothing to refer to', () => {
    for (const kind of [{ result_kind: 'ref' }, { result_kind: 'refs', event_ids: [] }, {}]) {
      expect(normalise({ ...kind, payload: { a: 1 } }).result).toEqual({ status: 'COMPLETED', context: { a: 1 } })
    }
  })

  it('does not lose a payload that is not an object', () => {
    expect(normalise({ payload: [1, 2] }).result).toEqual({ status: 'COMPLETED', context: { value: [1, 2] } })
    expect(normalise({ payload: null }).result).toEqual({ status: 'COMPLETED' })
  })
})

describe('command id', () => {
  it('is copied to where claims and folds look for it', () => {
    expect(normalise({ payload: { command_id: '1:load:2' } }).meta).toMatchObject({ command_id: '1:load:2' })
    expect(normalise({ payload: { command_id: 'a' }, meta: { command_id: 'b' } }).meta).toMatchObject({
      command_id: 'b',
    })
    expect(normalise({ payload: { command_id: {} } }).meta).not.toHaveProperty('command_id')
  })
})

describe('start events', () => {
  it('carry what they start with in their context', () => {
    const event = normaliseEvent(
      {
        execution_id: 1,
        event_type: 'playbook_started',
        payload: { path: 'a/b', catalog_id: '12', workload: { x: 1 } },
      },
      DEFAULTS,
    )
    expect(event).toMatchObject({
      nodeName: 'playbook',
      catalogId: '12',
      catalogPath: 'a/b',
      context: { workload: { x: 1 } },
      result: { status: 'RUNNING' },
    })
    expect(event.result).not.toHaveProperty('context')
  })

  it('prefer what is beside the payload', () => {
    const payload = { path: 'a', catalog_id: 1 }
    const event = normaliseEvent(
      { ...BASE, event_type: 'playbook.started', path: 'b', catalog_id: 2, payload },
      DEFAULTS,
    )
    expect(event).toMatchObject({ catalogId: '2', catalogPath: 'b' })
  })
})

describe('bad fields', () => {
  it.each<[JsonObject, string]>([
    [{ execution_id: null }, '/execution_id'],
    [{ execution_id: -1 }, '/execution_id'],
    [{ execution_id: '01' }, '/execution_id'],
    [{ execution_id: 1.5 }, '/execution_id'],
    [{ event_type: '' }, '/event_type'],
    [{ event_type: 5 }, '/event_type'],
    [{ event_type: 'a\u0000' }, '/event_type'],
    [{ event_type: 'x'.repeat(1025) }, '/event_type'],
    [{ step: '' }, '/step'],
    [{ step: '\ud800' }, '/step'],
    [{ step: {} }, '/step'],
    [{ event_id: 'abc' }, '/event_id'],
    [{ status: 1 }, '/status'],
    [{ meta: 'text' }, '/meta'],
    [{ meta: [] }, '/meta'],
    [{ actionable: 'yes' }, '/actionable'],
    [{ informative: 1 }, '/informative'],
    [{ created_at: 'yesterday' }, '/created_at'],
    [{ timestamp: '2026-02-30T00:00:00Z' }, '/timestamp'],
    [{ result_kind: 'blob' }, '/result_kind'],
    [{ result_uri: 5 }, '/result_uri'],
    [{ event_ids: 'x' }, '/event_ids'],
    [{ event_ids: [1, 'x'] }, '/event_ids/1'],
    [{ worker_id: [] }, '/worker_id'],
    [{ duration: 'long' }, '/duration'],
    [{ catalog_id: 2n ** 63n }, '/catalog_id'],
    [{ tenant_id: 1 }, '/tenant_id'],
  ])('%o is refused at %s', (more, field) => {
    expect(refusedField({ ...BASE, ...more })).toBe(field)
    expect(refusedField({ ...BASE, ...more }, { at: '/events/3' })).toBe(`/events/3${field}`)
  })

  it('a batch item of another execution is refused', () => {
    expect(refusedField(BASE, { executionId: parseExecutionId(5), at: '/events/0' })).toBe('/events/0/execution_id')
  })

  it('inherited names are not fields', () => {
    expect(refusedField(parseJson('{"execution_id":1,"step":"s","__proto__":{"event_type":"x"}}') as JsonObject)).toBe(
      '/event_type',
    )
  })
})

describe('checksum', () => {
  const checksum = (...given: Parameters<typeof normalise>) =>
    eventChecksum({ ...normalise(...given), tenantId: 'default', organizationId: 'default' })
  const given = { event_id: 9, payload: { a: 1, b: 2 } }

  it('is the same for a repeated request, whatever our clock says', () => {
    const first = checksum(given)
    expect(
      checksum({ event_id: '9', payload: { b: 2, a: 1 } }, { now: '2027-01-01T00:00:00.000000+00:00' as WireTime }),
    ).toBe(first)
  })

  it.each<JsonObject>([
    { payload: { a: 1, b: 3 } },
    { step: 'other' },
    { status: 'FAILED' },
    { event_type: 'command.failed' },
    { meta: { x: 1 } },
    { worker_id: 'w' },
    { created_at: '2026-01-01T00:00:00Z' },
    { execution_id: 5 },
  ])('differs for %o', (other) => {
    expect(checksum({ ...given, ...other })).not.toBe(checksum(given))
  })
})
