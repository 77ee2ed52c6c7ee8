// Promise: profile `server` folds as the Rust server does, quirks included: which types move what, what is left out, what it
// takes for an id, how it hashes. One test per rule in which the generations differ.
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import { parseReplayRequest } from '../../src/services/replay/request.js'

const OPTIONS = {
  profile: 'server',
  tenantId: 'acme',
  organizationId: 'default',
  executionId: 999,
  projection: 'all',
  upcasterRegistryDigest: 'is not used',
} as const

let nextId = 100
const event = (event_type: string, rest: JsonObject = {}): JsonObject => ({ event_id: nextId++, event_type, ...rest })
const fold = (...events: JsonObject[]) => foldEvents(OPTIONS, events)
const stateOf = (...events: JsonObject[]) => fold(...events).state as Record<string, JsonObject>
const status = (...types: string[]) => stateOf(...types.map((type) => event(type)))['execution']!['status']
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the document', () => {
  it('of an empty log says back who was asked for, and leaves out what has no value', () => {
    const state = fold().state
    expect(Object.keys(state)).toEqual([
      ...['tenant_id', 'organization_id', 'execution_id', 'projection', 'event_count', 'execution'],
      ...['stages', 'frames', 'commands', 'business_objects', 'loops', 'checksum', 'projection_checksums'],
    ])
    expect(state).toMatchObject({
      tenant_id: 'acme',
      event_count: 0,
      execution: { status: 'UNKNOWN', payload_refs: [] },
    })
    expect(Object.keys(state['execution'] as JsonObject)).toEqual(['status', 'payload_refs'])
  })

  it('has checksums with their type: of raw parts under singular names, then of everything but itself', () => {
    const empty = sha256('{}')
    const execution = sha256('{"payload_refs":[],"status":"UNKNOWN"}')
    const typed = (value: string) => ({ type: 'sha256', value })
    const { state, checksum, canonicalText } = fold()
    expect(state['projection_checksums']).toEqual({
      execution: typed(execution),
      stage: typed(empty),
      frame: typed(empty),
      command: typed(empty),
      business_object: typed(empty),
      loop: typed(empty),
    })
    const sum = (value: string) => `{"type":"sha256","value":"${value}"}`
    expect(canonicalText()).toBe(
      '{"business_objects":{},"commands":{},"event_count":0,"execution":{"payload_refs":[],"status":"UNKNOWN"},"execution_id":999,' +
        '"frames":{},"loops":{},"organization_id":"default","projection":"all","projection_checksums":{' +
        `"business_object":${sum(empty)},"command":${sum(empty)},"execution":${sum(execution)},"frame":${sum(empty)},` +
        `"loop":${sum(empty)},"stage":${sum(empty)}},"stages":{},"tenant_id":"acme"}`,
    )
    expect(checksum).toBe(sha256(canonicalText()))
    expect(state['checksum']).toEqual(typed(checksum))
  })

  it('is hashed as raw UTF-8, with keys by code point and floats in its own way', () => {
    const state = parseJson(
      '{"é":"ü\\u007f","\\ue000":1e16,"\\ud83d\\ude00":1e-5,"n":[1.0,18446744073709551615,36893488147419103232]}',
    )
    const meta = { business_object: { type: 't', id: 1, state } } as JsonObject
    expect(fold(event('x', { meta })).canonicalText()).toContain(
      '"attributes":{"n":[1.0,18446744073709551615,3.6893488147419103e19],"é":"ü\u007f","\ue000":1e16,"😀":1e-5}',
    )
  })
})

describe('the execution', () => {
  it('is UNKNOWN until an event of its few types moves it', () => {
    expect(status('playbook_started', 'playbook.initialized', 'stage.opened', 'command.issued')).toBe('UNKNOWN')
    for (const type of ['step.enter', 'step_enter', 'step_started']) expect(status(type)).toBe('RUNNING')
    for (const form of ['.', '_']) {
      expect(status(`playbook${form}completed`)).toBe('COMPLETED')
      expect(status(`playbook${form}failed`)).toBe('FAILED')
      expect(status(`playbook${form}cancelled`)).toBe('CANCELLED')
    }
    for (const type of ['workflow.completed', 'execution.cancelled', 'command.failed', 'step.started'])
      expect(status(type)).toBe('UNKNOWN')
    expect(status('playbook.completed', 'step.enter')).toBe('COMPLETED')
    expect(status('playbook.completed', 'playbook.failed')).toBe('FAILED')
  })

  it('follows the names of steps and completed commands, never an absent one', () => {
    const at = (type: string, node_name: string | null) => event(type, { node_name })
    const state = stateOf(
      at('step.enter', 'a'),
      at('command.completed', 'b'),
      at('step.exit', null),
      at('call.done', 'c'),
    )
    expect(state['execution']!['last_node_name']).toBe('b')
  })

  it('knows references of results, summed up, and no column of them', () => {
    const reference = { sha256: 'x', row_count: 0, media_type: 7, rows_ref: { meta: { media_type: 'm' } } }
    const state = stateOf(event('x', { payload_ref: { ref: 'column' } }), event('x', { result: { reference } }))
    expect(state['execution']!['payload_refs']).toEqual([
      { event_id: nextId - 1, reference, summary: { sha256: 'x', row_count: 0, media_type: 'm' } },
    ])
  })
})

describe('entities', () => {
  it('take null and empty texts for ids', () => {
    const state = stateOf(event('x', { meta: { stage_id: null, command_id: null } }), event('x', { frame_id: '' }))
    expect(Object.keys(state['stages']!)).toEqual(['null'])
    expect(Object.keys(state['commands']!)).toEqual(['null'])
    expect(Object.keys(state['frames']!)).toEqual([''])
  })

  it('count whole numbers only, zero included, and keep the rest as it was', () => {
    const meta = { frame_count: 0, row_count: '7', events_emitted: 3, failed_count: null }
    const state = stateOf(
      event('stage.closed', { stage_id: 's', meta: { ...meta, frame_count: 4 } }),
      event('stage.closed', { stage_id: 's', status: 'DONE', meta }),
    )
    expect(state['stages']!['s']).toEqual({
      stage_id: 's',
      status: 'DONE',
      closed_event_id: nextId - 1,
      frame_count: 0,
      row_count: 0,
      events_emitted: 3,
      failed_count: 0,
      last_event_id: nextId - 1,
    })
  })

  it('frames have an output when they end, and no cursor; an attempt that cannot be read is the first', () => {
    const open = stateOf(event('frame.dispatched', { frame_id: 'f', meta: { attempt: null, cursor: { a: 1 } } }))
    expect(open['frames']!['f']).toMatchObject({ status: 'CLAIMED', attempts: 1 })
    expect(Object.keys(open['frames']!['f'] as JsonObject)).not.toContain('output_ref_summary')
    const reference = { ref: 'gs://x' }
    const done = stateOf(event('frame.committed', { frame_id: 'f', result: { reference }, meta: { cursor: { a: 1 } } }))
    expect(done['frames']!['f']).toMatchObject({
      status: 'COMPLETED',
      output_ref: reference,
      output_ref_summary: { ref: 'gs://x' },
    })
    expect(done['frames']!['f']).not.toHaveProperty('cursor')
  })

  it('commands read the worker of the column first, and have no placement', () => {
    const state = stateOf(
      event('command.failed', { command_id: 7, worker_id: 'w', meta: { worker_id: 'other', placement: { a: 1 } } }),
    )
    const command = state['commands']!['7'] as JsonObject
    expect(command).toMatchObject({ command_id: '7', status: 'FAILED', worker_id: 'w', terminal_event_id: nextId - 1 })
    expect(command).not.toHaveProperty('placement')
  })

  it('loops know a total that is a whole number', () => {
    const loop = (meta: JsonObject) =>
      (stateOf(event('command.completed', { meta: { loop_id: 'l', ...meta } }))['loops'] as JsonObject)['l']
    expect(loop({ total: 0 })).toMatchObject({ total: 0, done: 1 })
    expect(loop({ collection_size: '7', total: 2 })).toMatchObject({ total: 2 })
    expect(loop({ total: 2.5 })).not.toHaveProperty('total')
  })

  it('business objects: an empty status is none, an empty patch hides the attributes, a leading slash stays', () => {
    const of = (rest: JsonObject) => Object.values(stateOf(event('customer.created', rest))['business_objects']!)[0]
    const told = { type: 't', id: '1', version: 0, patch: {}, attributes: { a: 1 } }
    expect(of({ status: '', meta: { business_object: told } })).toMatchObject({
      status: 'ACTIVE',
      version: 0,
      attributes: {},
    })
    expect(of({ aggregate_type: 'business_object', aggregate_id: '/business_object/t/1' })).toMatchObject({
      object_type: 'business_object',
      object_id: 't/1',
    })
  })
})

describe('a request', () => {
  it('knows seven projections and a real cutoff at zero, and no snapshot', () => {
    const ask = (parameters: Record<string, string>) =>
      parseReplayRequest('server', { execution_id: '1', ...parameters })
    expect(() => ask({ projection: 'any' })).toThrow('unknown projection')
    expect(ask({ as_of_event_id: '0' }).query.cutoff).toEqual({ kind: 'event_id', eventId: 0 })
    expect(ask({}).fromSnapshot).toBe(false)
    expect(() => ask({ from_snapshot: 'true' })).toThrow('never starts from a snapshot')
  })
})
