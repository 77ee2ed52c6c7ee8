// Promise: profile `cp` differs from `python` in the seven published rules and in nothing else. Each
// rule is shown with the value that `python` gives for the same log.

import { describe, expect, it } from 'vitest'
import { canonicalChecksum } from '../../src/domain/json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import { createFold, foldEvents } from '../../src/domain/replay/fold.js'
import type { FoldOptions, FoldResult } from '../../src/domain/replay/foldTypes.js'
import type { FoldProfile } from '../../src/domain/replay/profile.js'
import { parseReplayQuery } from '../../src/domain/replay/replayQuery.js'
import { selectReplayInput } from '../../src/domain/replay/selectReplayInput.js'
import { verifyState } from '../../src/domain/replay/verifyState.js'
import { CpError } from '../../src/errors.js'
import { readVectors } from './replayVectors.js'

function fold(profile: FoldProfile, events: JsonObject[], extra: Partial<FoldOptions> = {}): FoldResult {
  const options: FoldOptions = {
    profile,
    tenantId: 'default',
    organizationId: 'default',
    executionId: 9001,
    projection: 'all',
    upcasterRegistryDigest: null,
    ...extra,
  }
  return foldEvents(options, events)
}

function at(result: FoldResult, ...path: string[]): JsonValue | undefined {
  let value: JsonValue | undefined = result.state
  for (const key of path) value = isJsonObject(value) ? value[key] : undefined
  return value
}

const log = (...types: string[]): JsonObject[] =>
  types.map((event_type, index) => ({ event_id: index + 1, event_type }))
const status = (profile: FoldProfile, ...types: string[]) => at(fold(profile, log(...types)), 'execution', 'status')
const both = (events: JsonObject[], ...path: string[]) => [
  at(fold('python', events), ...path),
  at(fold('cp', events), ...path),
]

describe('the mark', () => {
  it('is inside the hashed state', () => {
    const result = fold('cp', [])
    expect(at(result, 'fold_profile')).toBe('cp/1')
    expect(result.canonicalText()).toContain('"fold_profile":"cp/1"')
    expect(at(fold('python', []), 'fold_profile')).toBeUndefined()
    expect(fold('python', []).checksum).not.toBe(result.checksum)
    expect(fold('python', []).projectionChecksums).toEqual(result.projectionChecksums)
  })

  it('keeps the profiles apart when a state is continued', () => {
    expect(() => fold('cp', [], { baseState: fold('python', []).state })).toThrow('fold profile null')
    expect(() => fold('python', [], { baseState: fold('cp', []).state })).toThrow('fold profile cp/1')
  })
})

describe('rule 1: execution status', () => {
  it.each([
    ['playbook.started', 'UNKNOWN', 'RUNNING'],
    ['playbook.initialized', 'RUNNING', 'RUNNING'],
    ['workflow.initialized', 'UNKNOWN', 'RUNNING'],
    ['workflow.started', 'UNKNOWN', 'RUNNING'],
    ['execution.started', 'RUNNING', 'RUNNING'],
    ['stage.opened', 'RUNNING', 'RUNNING'],
    ['frame.dispatched', 'RUNNING', 'RUNNING'],
    ['step.enter', 'UNKNOWN', 'RUNNING'],
    ['step.started', 'UNKNOWN', 'RUNNING'],
    ['step.exit', 'UNKNOWN', 'UNKNOWN'],
    ['playbook.cancelled', 'UNKNOWN', 'CANCELLED'],
    ['workflow.cancelled', 'UNKNOWN', 'CANCELLED'],
    ['execution.cancelled', 'UNKNOWN', 'CANCELLED'],
    ['command.failed', 'FAILED', 'UNKNOWN'],
    ['execution.failed', 'FAILED', 'FAILED'],
    ['workflow.completed', 'COMPLETED', 'COMPLETED'],
  ])('%s: python %s, cp %s', (type, python, cp) => {
    expect([status('python', type), status('cp', type)]).toEqual([python, cp])
  })

  it('does not reopen a finished execution, but lets another end replace it', () => {
    expect(status('python', 'playbook.completed', 'frame.dispatched')).toBe('RUNNING')
    expect(status('cp', 'playbook.completed', 'frame.dispatched')).toBe('COMPLETED')
    expect(status('cp', 'playbook.completed', 'execution.failed')).toBe('FAILED')
    expect(status('cp', 'execution.cancelled', 'playbook.completed', 'step.enter')).toBe('COMPLETED')
  })
})

describe('rule 2: dotted and underscore names', () => {
  it.each([
    ['playbook_completed', 'COMPLETED'],
    ['playbook_cancelled', 'CANCELLED'],
    ['playbook_canceled', 'CANCELLED'],
    ['execution.canceled', 'CANCELLED'],
    ['playbook_started', 'RUNNING'],
    ['step_enter', 'RUNNING'],
    ['step_started', 'RUNNING'],
    ['stage_opened', 'RUNNING'],
  ])('%s makes the execution %s', (type, expected) => {
    expect([status('python', type), status('cp', type)]).toEqual(['UNKNOWN', expected])
    expect(at(fold('cp', log(type)), 'last_event_type')).toBe(type)
  })

  it('holds for every map', () => {
    const events: JsonObject[] = [
      { event_id: 1, event_type: 'command_issued', command_id: 5, meta: { loop_id: 'L' } },
      { event_id: 2, event_type: 'command_completed', command_id: 5, meta: { loop_id: 'L' } },
      { event_id: 3, event_type: 'frame_dispatched', frame_id: 8 },
      { event_id: 4, event_type: 'stage_closed', stage_id: 7, meta: { row_count: 3 } },
      { event_id: 5, event_type: 'loop_fanin_completed', meta: { loop_id: 'L' } },
      { event_id: 6, event_type: 'order_deleted', meta: { object_type: 'order', object_id: 1 } },
      { event_id: 7, event_type: 'command_canceled', command_id: 6 },
    ]
    expect(both(events, 'commands', '5', 'status')).toEqual(['UNKNOWN', 'COMPLETED'])
    expect(both(events, 'commands', '6', 'status')).toEqual(['UNKNOWN', 'CANCELLED'])
    expect(both(events, 'frames', '8', 'status')).toEqual(['UNKNOWN', 'CLAIMED'])
    expect(both(events, 'stages', '7', 'row_count')).toEqual([0, 3])
    expect(both(events, 'loops', 'L', 'done')).toEqual([0, 1])
    expect(both(events, 'loops', 'L', 'completed')).toEqual([false, true])
    expect(both(events, 'business_objects', 'order/1', 'status')).toEqual(['UNKNOWN', 'DELETED'])
  })

  it('leaves the words of a dotted name alone', () => {
    const events: JsonObject[] = [
      { event_id: 1, event_type: 'order.soft_deleted', meta: { object_type: 'o', object_id: 1 } },
    ]
    expect(both(events, 'business_objects', 'o/1', 'status')).toEqual(['UNKNOWN', 'UNKNOWN'])
  })
})

describe('rule 3: last_node_name', () => {
  it('is set by step events and completed commands that carry one', () => {
    const node = (...pairs: [string, string | null][]) => {
      const events = pairs.map(
        ([event_type, node_name], index): JsonObject => ({ event_id: index, event_type, node_name }),
      )
      return both(events, 'execution', 'last_node_name')
    }
    expect(node(['step.enter', 'a'], ['call.done', 'b'])).toEqual(['b', 'a'])
    expect(node(['step_completed', 'a'], ['x', null])).toEqual([null, 'a'])
    expect(node(['step.exit', 'a'], ['step.enter', null])).toEqual([null, 'a'])
    expect(node(['command.completed', 'c'], ['command.failed', 'd'])).toEqual(['d', 'c'])
    expect(node(['playbook.initialized', 'start'])).toEqual(['start', null])
  })
})

describe('rule 4: zeros, unreadable numbers and the worker column', () => {
  it('takes a zero for a value', () => {
    const events: JsonObject[] = [
      { event_id: 1, event_type: 'stage.closed', stage_id: 7, meta: { row_count: 9, failed_count: 2 } },
      { event_id: 2, event_type: 'stage.closed', stage_id: 7, meta: { row_count: 0 } },
      { event_id: 3, event_type: 'o.updated', meta: { object_type: 'o', object_id: 1, business_object_version: 0 } },
      { event_id: 4, event_type: 'x', meta: { loop_id: 'L', collection_size: 0, total: 9 } },
      { event_id: 5, event_type: 'frame.committed', frame_id: 1, payload_ref: { row_count: 0 }, meta: {} },
    ]
    expect(both(events, 'stages', '7', 'row_count')).toEqual([9, 0])
    expect(both(events, 'stages', '7', 'failed_count')).toEqual([2, 2])
    expect(both(events, 'business_objects', 'o/1', 'version')).toEqual([1, 0])
    expect(both(events, 'loops', 'L', 'total')).toEqual([9, 0])
    expect(both(events, 'frames', '1', 'output_ref_summary', 'row_count')).toEqual([null, 0])
  })

  it.each<[string, JsonObject, string[], JsonValue]>([
    [
      'counter',
      { event_type: 'stage.closed', stage_id: 7, meta: { row_count: 'many' } },
      ['stages', '7', 'row_count'],
      4,
    ],
    [
      'attempt',
      { event_type: 'frame.dispatched', frame_id: 8, meta: { attempt: null } },
      ['frames', '8', 'attempts'],
      3,
    ],
    [
      'version',
      { event_type: 'o.updated', meta: { business_object: { type: 'o', id: 1, version: [] } } },
      ['business_objects', 'o/1', 'version'],
      6,
    ],
    ['total', { event_type: 'x', meta: { loop_id: 'M', total: 'all of them' } }, ['loops', 'M', 'total'], null],
  ])('keeps the former value of an unreadable %s and warns', (_what, bad, path, former) => {
    const before: JsonObject[] = [
      { event_id: 1, event_type: 'stage.closed', stage_id: 7, meta: { row_count: 4 } },
      { event_id: 2, event_type: 'frame.dispatched', frame_id: 8, meta: { attempt: 3 } },
      { event_id: 3, event_type: 'o.updated', meta: { business_object: { type: 'o', id: 1, version: 6 } } },
    ]
    const result = fold('cp', [...before, { ...bad, event_id: 10 }, { ...bad, event_id: 11 }])
    expect(at(result, ...path)).toBe(former)
    expect(result.warnings).toHaveLength(1)
    expect(result.warnings[0]).toMatchObject({
      kind: 'unreadable_value',
      firstEventIds: expect.arrayContaining(['10']),
    })
    expect(result.canonicalText()).not.toContain('unreadable')
  })

  it('shows the zeros of the golden logs', () => {
    const golden = (name: string) => readVectors('fold').find((vector) => vector.name === name)!.input['events']
    const objects = golden('business-objects') as JsonObject[]
    expect(both(objects, 'business_objects', 'patient/p-1', 'version')).toEqual([4, 0])
    expect(both(objects, 'business_objects', '客户/a/b', 'version')).toEqual([3, 0])
    const mixed = golden('mixed-1') as JsonObject[]
    const summary = ['business_objects', 'patient/a/b', 'last_payload_ref', 'summary', 'row_count']
    expect(both(mixed, ...summary)).toEqual([26, 0])
  })

  it('lets the error vectors through', () => {
    for (const vector of readVectors('fold').filter((candidate) => isJsonObject(candidate.expect['error']))) {
      const events = vector.input['events'] as JsonObject[]
      expect(() => fold('python', events)).toThrow(CpError)
      expect(fold('cp', events).warnings).toHaveLength(1)
    }
  })

  it('reads the worker column', () => {
    const rows: JsonObject[] = [
      { execution_id: 1, event_id: 1, event_type: 'command.claimed', command_id: 5, worker_id: 'w1' },
    ]
    const worker = (profile: FoldProfile) => {
      const query = parseReplayQuery(profile, { execution_id: '1' })
      return at(fold(profile, selectReplayInput(profile, rows, [], query, 'd').events), 'commands', '5', 'worker_id')
    }
    expect([worker('python'), worker('cp')]).toEqual([null, 'w1'])
  })
})

describe('rule 5: cutoffs, names and limits', () => {
  const rows = [0, 1, 2, 3].map((event_id): JsonObject => ({ execution_id: 1, event_id, event_type: 'x' }))
  const select = (profile: FoldProfile, parameters: Record<string, string>) =>
    selectReplayInput(profile, rows, [], parseReplayQuery(profile, { execution_id: '1', ...parameters }), 'd')

  it('takes 0 for a real cutoff', () => {
    expect(select('python', { as_of_event_id: '0' }).events).toHaveLength(4)
    expect(select('cp', { as_of_event_id: '0' }).events).toHaveLength(1)
    expect(select('python', { as_of_position: '0' }).events).toHaveLength(1)
  })

  it('refuses unknown projections', () => {
    expect(() => parseReplayQuery('cp', { execution_id: '1', projection: 'whatever' })).toThrow('unknown projection')
    expect(parseReplayQuery('python', { execution_id: '1', projection: 'whatever' }).projection).toBe('whatever')
    expect(() => fold('cp', [], { projection: 'stages' })).toThrow('unknown projection')
  })

  it('says what a limit left out', () => {
    expect(select('cp', { limit: '2' })).toMatchObject({ truncated: true, nextEventId: 2 })
    expect(select('cp', { limit: '4' })).toMatchObject({ truncated: false, nextEventId: null })
  })
})

describe('rule 6: duplicates', () => {
  it('counts an id once', () => {
    const events: JsonObject[] = [
      { event_id: 1, event_type: 'loop.shard.done', meta: { loop_id: 'L' } },
      { event_id: 1, event_type: 'loop.shard.done', meta: { loop_id: 'L' } },
      { event_id: '1', event_type: 'loop.shard.done', meta: { loop_id: 'L' }, ingest_time: 'later' },
    ]
    expect(both(events, 'event_count')).toEqual([3, 1])
    expect(both(events, 'loops', 'L', 'done')).toEqual([3, 1])
    expect(fold('cp', events)).toMatchObject({ duplicates: 2, warnings: [] })
  })

  it('reports two contents under one id, and chooses the same one in any order', () => {
    const [a, b]: JsonObject[] = [
      { event_id: 1, event_type: 'playbook.completed' },
      { event_id: 1, event_type: 'playbook.failed' },
    ]
    const results = [fold('cp', [a!, b!]), fold('cp', [b!, a!]), fold('cp', [b!, a!, b!])]
    expect(new Set(results.map((result) => result.checksum)).size).toBe(1)
    for (const result of results) {
      expect(result.warnings).toEqual([{ kind: 'conflicting_duplicate', field: null, count: 1, firstEventIds: ['1'] }])
    }
  })

  it('leaves out what has no id, and says so', () => {
    const result = fold('cp', [{ event_type: 'playbook.completed' }, { event_id: 'abc', event_type: 'x' }])
    expect(at(result, 'event_count')).toBe(0)
    expect(result.warnings).toMatchObject([{ kind: 'missing_event_id', count: 2 }])
  })

  it('refuses events out of order instead of guessing', () => {
    const stream = createFold({
      profile: 'cp',
      tenantId: 'default',
      organizationId: 'default',
      executionId: 1,
      projection: 'all',
      upcasterRegistryDigest: null,
    })
    stream.add({ event_id: 612345678901236660n, event_type: 'x' })
    expect(() => stream.add({ event_id: 612345678901236659n, event_type: 'x' })).toThrow('add events in id order')
  })
})

describe('rule 7: projection', () => {
  const events: JsonObject[] = [
    { event_id: 1, event_type: 'x', stage_id: 1, frame_id: 2, command_id: 3, meta: { loop_id: 'L' } },
  ]

  it('selects what is returned, and the checksum is that of the document', () => {
    const all = fold('cp', events)
    const stage = fold('cp', events, { projection: 'stage' })
    expect(Object.keys(at(stage, 'stages') as JsonObject)).toEqual(['1'])
    for (const map of ['frames', 'commands', 'business_objects', 'loops']) expect(at(stage, map)).toEqual({})
    const { projection_checksums, checksum, checksum_algorithm, ...hashed } = stage.state
    expect(canonicalChecksum(hashed)).toBe(stage.checksum)
    expect(stage.checksum).not.toBe(all.checksum)
    const { execution: _label, ...surfaces } = stage.projectionChecksums
    expect(all.projectionChecksums).toMatchObject(surfaces)
    expect(verifyState(stage.state)).toMatchObject({
      matched: true,
      unverifiable: ['frames', 'commands', 'business_objects', 'loops'],
    })
  })

  it('returns everything in python', () => {
    expect(Object.keys(at(fold('python', events, { projection: 'stage' }), 'loops') as JsonObject)).toEqual(['L'])
  })

  it('is only continued when it is complete', () => {
    const { state } = fold('cp', events, { projection: 'loop' })
    expect(() => fold('cp', [], { baseState: state })).toThrow('only a state of projection "all"')
  })
})

describe('unknown types', () => {
  it('are counted outside the state and still touch their entities', () => {
    const result = fold('cp', [
      { event_id: 1, event_type: 'coffee.spilled', stage_id: 7, status: 'WET' },
      { event_id: 2, event_type: 'coffee.spilled' },
      { event_id: 3, event_type: 'playbook.completed' },
    ])
    expect(result.unknownTypes).toEqual({
      count: 2,
      types: [{ eventType: 'coffee.spilled', count: 2, firstEventId: '1' }],
    })
    expect(at(result, 'stages', '7', 'status')).toBe('WET')
    expect(at(result, 'event_count')).toBe(3)
  })
})

describe('golden logs in cp', () => {
  it.each(readVectors('fold').map((vector) => [vector.id, vector.name, vector] as const))(
    '%s %s folds, verifies and keeps the maps where no rule differs',
    (_id, name, vector) => {
      const base = vector.input['base_state']
      if (base !== undefined) return
      const events = vector.input['events'] as JsonObject[]
      const result = fold('cp', events)
      expect(verifyState(result.state).matched).toBe(true)
      if (!UNCHANGED.has(name)) return
      const wanted = vector.expect['state'] as JsonObject
      for (const map of ['stages', 'frames', 'commands', 'business_objects', 'loops', 'event_count']) {
        expect(result.state[map]).toStrictEqual(wanted[map])
      }
    },
  )
})

// Logs that contain no zero counter, no alias, no duplicate and no unreadable number.
const UNCHANGED = new Set([
  ...['empty-log', 'linear-playbook', 'stages-and-frames', 'loops', 'command-id-precedence'],
  ...[
    'straggler-reopens-execution',
    'cancelled-has-no-effect',
    'frame-attempts-max',
    'unsorted-input',
    'ids-near-2^63',
  ],
  ...['ids-around-2^53-reversed', 'string-event-ids', 'business-identity-variants', 'payload-ref-precedence'],
])
