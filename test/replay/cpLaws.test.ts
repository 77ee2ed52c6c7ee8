// Promise: in profile `cp` neither the order nor the repetition of events, nor where a replay was cut and
// stored, changes a single byte of the state. Nothing a log can contain makes the fold fail.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, sha256Hex } from '../../src/domain/json/canonical.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, isJsonObject, type JsonObject, type JsonValue, setKey } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { createFold, foldEvents } from '../../src/domain/replay/fold.js'
import type { FoldOptions } from '../../src/domain/replay/foldTypes.js'
import { PROJECTIONS } from '../../src/domain/replay/profile.js'
import { verifyState } from '../../src/domain/replay/verifyState.js'

const OPTIONS: FoldOptions = {
  profile: 'cp',
  tenantId: 'default',
  organizationId: 'default',
  executionId: 612345678901236660n,
  projection: 'all',
  upcasterRegistryDigest: null,
}

const scalar: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  ...[null, true, false, 0, 1, 7, '7', '07', '', 'x', 'é😀', '__proto__', '-3', ' 4 ', 'many', 2.5],
  ...[9007199254740993n, new Float(7), new Float(1e16), [], {}, [1], { a: 1 }],
)
const id = fc.constantFrom<JsonValue>(
  null,
  7,
  '07',
  9,
  10,
  '10',
  'a',
  '',
  '__proto__',
  'constructor',
  new Float(7),
  true,
)
const type = fc.constantFrom(
  ...['playbook.initialized', 'playbook_started', 'playbook.completed', 'workflow_failed', 'execution.canceled'],
  ...['stage.opened', 'stage.closed', 'frame.dispatched', 'frame_started', 'frame.committed', 'frame.failed'],
  ...['frame.abandoned', 'command.issued', 'command_claimed', 'command.completed', 'command.failed'],
  ...['command.heartbeat', 'loop.shard.done', 'loop_done', 'step.enter', 'step_completed', 'order.created'],
  ...['order_deleted', 'coffee.spilled', '', 'CALL.DONE'],
)
const reference = fc.oneof(
  scalar,
  fc.record({ uri: scalar, row_count: scalar, sha256: scalar }) as fc.Arbitrary<JsonValue>,
  fc.record({
    rows_ref: fc.record({ ref: scalar, meta: fc.record({ row_count: scalar }) }),
  }) as fc.Arbitrary<JsonValue>,
)
const metaFields = [
  ...['kind', 'row_count', 'frame_count', 'events_emitted', 'attempt', 'cursor', 'locality', 'placement'],
  ...['loop_id', 'loop_event_id', 'total', 'collection_size', 'stage_id', 'frame_id', 'command_id', 'worker_id'],
  ...['object_type', 'object_id', 'business_object_version', 'parent_stage_id', 'parent_frame_id'],
]
const business = fc.dictionary(fc.constantFrom('type', 'id', 'version', 'state', 'patch', 'attributes'), scalar)
const meta = fc
  .tuple(fc.dictionary(fc.constantFrom(...metaFields), scalar, { maxKeys: 6 }), fc.option(business))
  .map(([fields, object]) => (object === null ? fields : { ...fields, business_object: object }))
const body = fc.record(
  {
    event_type: type,
    status: fc.option(scalar),
    node_name: fc.option(scalar),
    stage_id: id,
    frame_id: id,
    command_id: id,
    worker_id: scalar,
    aggregate_type: fc.constantFrom('stage', 'frame', 'business_object', 'execution'),
    aggregate_id: fc.constantFrom<JsonValue>('stage/1', 'frame/9', 'business_object/order/7', 'x', 7, null),
    payload_ref: fc.option(reference),
    result: fc.oneof(scalar, fc.record({ reference }) as fc.Arbitrary<JsonValue>),
    meta: fc.oneof({ weight: 9, arbitrary: meta as fc.Arbitrary<JsonValue> }, { weight: 1, arbitrary: scalar }),
  },
  { requiredKeys: ['event_type'] },
) as fc.Arbitrary<JsonObject>

/** Distinct ids in id order, close together around 2^53 and small. */
const events = fc
  .array(fc.tuple(fc.oneof(fc.bigInt(-3n, 40n), fc.bigInt(9007199254740985n, 9007199254741010n)), body), {
    maxLength: 25,
  })
  .map((pairs) => {
    const byId = new Map(pairs.map(([eventId, event]) => [eventId, event]))
    return Array.from(byId)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([eventId, event]): JsonObject => ({ event_id: parseJson(String(eventId)), ...event }))
  })

const stored = (state: JsonObject) => reordered(parseJson(writeJson(state))) as JsonObject

/** A store may give keys back in any order; here shortest first, as a database does. */
function reordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reordered)
  if (!isJsonObject(value)) return value
  const copy: JsonObject = {}
  const keys = Object.keys(value).sort((left, right) => left.length - right.length || (left < right ? -1 : 1))
  for (const key of keys) setKey(copy, key, reordered(value[key]!))
  return copy
}

// By canonical text: it tells 1 from 1.0, and an id may well be called "constructor".
function expectSame(actual: JsonValue, wanted: JsonValue): void {
  expect(canonicalJson(actual)).toBe(canonicalJson(wanted))
}

describe('laws of profile cp', () => {
  it('any order and any repetition give the same bytes', () => {
    const shuffledWithCopies = events.chain((log) =>
      fc
        .tuple(fc.shuffledSubarray(log), fc.shuffledSubarray(log, { minLength: log.length }))
        .map(([copies, all]) => ({ log, delivered: [...copies, ...all] })),
    )
    fc.assert(
      fc.property(shuffledWithCopies, ({ log, delivered }) => {
        const once = foldEvents(OPTIONS, log)
        const again = foldEvents(OPTIONS, delivered)
        expectSame(again.state, once.state)
        expect(again.warnings).toEqual(once.warnings)
        expectSame(again.payloadReferences(), once.payloadReferences())
        expect(again.duplicates).toBe(delivered.length - log.length)
      }),
    )
  })

  it('one contested id more changes nothing about the law', () => {
    fc.assert(
      fc.property(events, body, (log, rival) => {
        const contested = log.length === 0 ? [] : [{ ...rival, event_id: log[0]!['event_id']! }]
        const result = foldEvents(OPTIONS, [...log, ...contested])
        expectSame(foldEvents(OPTIONS, [...contested, ...log].reverse()).state, result.state)
      }),
    )
  })

  it('a seed plus the tail equals the whole at every cut, through a store', () => {
    fc.assert(
      fc.property(events, (log) => {
        const whole = foldEvents(OPTIONS, log)
        for (let cut = 0; cut <= log.length; cut++) {
          const seed = stored(foldEvents(OPTIONS, log.slice(0, cut)).state)
          const before = writeJson(seed)
          const continued = foldEvents({ ...OPTIONS, baseState: seed }, log.slice(cut))
          expect(continued.checksum).toBe(whole.checksum)
          expectSame(continued.state, whole.state)
          expectSame(continued.payloadReferences(), whole.payloadReferences())
          expect(writeJson(seed)).toBe(before)
          // Events that the seed covers already change nothing.
          expectSame(foldEvents({ ...OPTIONS, baseState: seed }, log).state, whole.state)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('page after page equals all at once', () => {
    fc.assert(
      fc.property(events, (log) => {
        const fold = createFold(OPTIONS)
        for (const event of log) fold.add(event)
        expectSame(fold.finish().state, foldEvents(OPTIONS, log).state)
      }),
    )
  })

  it('the checksums are those of the document, in every projection, and survive a store', () => {
    fc.assert(
      fc.property(events, fc.constantFrom(...PROJECTIONS), (log, projection) => {
        const result = foldEvents({ ...OPTIONS, projection }, log)
        expect(sha256Hex(result.canonicalText())).toBe(result.checksum)
        expect(verifyState(result.state)).toMatchObject({ matched: true, profile: 'cp' })
        expect(verifyState(stored(result.state)).matched).toBe(true)
        expectSame(stored(result.state), result.state)
      }),
    )
  })

  it('never changes an event', () => {
    fc.assert(
      fc.property(events, (log) => {
        const before = writeJson(log)
        foldEvents(OPTIONS, log)
        expect(writeJson(log)).toBe(before)
      }),
    )
  })
})

describe('the same in profile python, where it can hold', () => {
  it('the checksums are those of the document', () => {
    fc.assert(
      fc.property(events, (log) => {
        let result: ReturnType<typeof foldEvents>
        try {
          result = foldEvents({ ...OPTIONS, profile: 'python' }, log)
        } catch {
          return
        }
        expect(sha256Hex(result.canonicalText())).toBe(result.checksum)
      }),
    )
  })
})
