// Promise: from keyframes any position of a log gives the state, the checksum and what the last event touched exactly as
// a full replay does, in any order, also after an event arrived late, and with however little memory.
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { contentDifferences } from '../../src/domain/replay/diff.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import { Keyframes } from '../../src/domain/replay/keyframes/keyframes.js'
import { LogState } from '../../src/domain/replay/keyframes/logState.js'
import { MAP_SURFACES } from '../../src/domain/replay/profile.js'
import { readBenchLog } from './replayVectors.js'

const WHOSE = { tenantId: 'default', organizationId: 'default', executionId: 1, upcasterRegistryDigest: 'none' }
const EVENTS = 3_300

let log: JsonObject[]
beforeAll(() => {
  log = (readBenchLog()['events'] as JsonObject[]).slice(0, EVENTS)
  // The vector speaks of no business objects and few payloads; both are changed in place by the fold.
  for (let index = 5; index < EVENTS; index += 7) {
    const event = log[index]!
    const meta = {
      ...(event['meta'] as JsonObject),
      business_object: { type: 'order', id: index % 3, patch: { [`p${index % 40}`]: index } },
    }
    log[index] = { ...event, meta, payload_ref: { uri: `store://${index}` } }
  }
})

const replayed = (events: readonly JsonObject[]) => foldEvents({ ...WHOSE, profile: 'cp', projection: 'all' }, events)

function folded(events: readonly JsonObject[], bytesMax = 1e9): Keyframes {
  const keyframes = new Keyframes(WHOSE, events.length, bytesMax)
  for (const event of events) keyframes.append(event)
  return keyframes
}

/** As a jump is made: the nearest frame, then the events after it. */
function jump(keyframes: Keyframes, events: readonly JsonObject[], position: number): LogState {
  const before = Math.max(0, position - 1)
  const frame = keyframes.before(before)
  const state = keyframes.stateFrom(frame)
  for (const event of events.slice(frame.position, before)) state.apply(event)
  state.seal()
  if (position > 0) state.apply(events[position - 1]!)
  return state
}

/** The same on every machine. */
function positions(count: number, seed: number): number[] {
  let value = seed
  return Array.from({ length: count }, () => {
    value = (value * 1_103_515_245 + 12_345) % 2_147_483_648
    return value % (EVENTS + 1)
  })
}

function expectSame(keyframes: Keyframes, events: readonly JsonObject[], position: number): void {
  const { state, checksum, projectionChecksums } = replayed(events.slice(0, position))
  const reached = jump(keyframes, events, position)
  expect(reached.checksums(), `position ${position}`).toEqual({ checksum, projections: projectionChecksums })
  const { execution, ...head } = reached.shownHead() as { execution: JsonObject } & JsonObject
  for (const name of Object.keys(head)) expect(state[name], name).toEqual(head[name])
  const refs = (state['execution'] as JsonObject)['payload_refs'] as JsonObject[]
  expect(execution).toMatchObject({ payload_ref_count: refs.length, last_payload_ref: refs.at(-1) ?? null })
  const counts = reached.shownCounts()
  for (const surface of MAP_SURFACES) {
    const map = state[surface] as Record<string, JsonObject>
    const total = Object.values(counts[surface]).reduce((sum, count) => sum + count, 0)
    expect(total, surface).toBe(Object.keys(map).length)
    if (surface === 'commands') {
      const completed = Object.values(map).filter(({ status }) => status === 'COMPLETED').length
      expect(counts.commands['COMPLETED'] ?? 0).toBe(completed)
    }
  }
}

describe('a jump', () => {
  it('to 200 positions, forwards and backwards, gives the state of a replay', () => {
    const keyframes = folded(log)
    expect(keyframes.before(EVENTS).position).toBe(3_000)
    const wanted = [0, 1, 999, 1_000, 1_001, EVENTS, ...positions(194, 17)]
    for (const position of wanted) expectSame(keyframes, log, position)
  })

  it('names exactly what the last event changed, before and after', () => {
    const keyframes = folded(log)
    for (const position of [1, 6, 1_000, 1_001, ...positions(40, 99).filter((one) => one > 0)]) {
      const earlier = replayed(log.slice(0, position - 1)).state
      const later = replayed(log.slice(0, position)).state
      const changed = MAP_SURFACES.flatMap((surface) => {
        const before = earlier[surface] as Record<string, JsonObject>
        return Object.entries(later[surface] as Record<string, JsonObject>)
          .filter(([key, entity]) => JSON.stringify(entity, text) !== JSON.stringify(before[key], text))
          .map(([key, after]) => ({ surface, key, before: before[key], after }))
      })
      const touched = jump(keyframes, log, position).touched()
      expect(touched).toHaveLength(changed.length)
      expect(touched).toEqual(expect.arrayContaining(changed))
    }
  })

  it('tells the difference to any other position as the documents of two replays do', () => {
    const keyframes = folded(log)
    const pairs = positions(30, 41).map((one, index, all) => [one, all[(index + 7) % all.length]!] as const)
    for (const [one, other] of [[0, EVENTS], [EVENTS, 0], [1_000, 1_000], [6, 7], ...pairs] as const) {
      const [from, to] = [one, other].map((position) => replayed(log.slice(0, position)).state)
      const apart = LogState.apart(jump(keyframes, log, one), jump(keyframes, log, other))
      expect(contentDifferences(...apart), `${one} to ${other}`).toEqual(contentDifferences(from!, to!))
    }
  })

  it('after a late event is that of the log with it, and leaves nothing of what came after its place', () => {
    const late = log[1_500]!
    const without = [...log.slice(0, 1_500), ...log.slice(1_501)]
    const keyframes = folded(without)
    for (const position of positions(5, 3)) expectSame(keyframes, without, Math.min(position, without.length))
    const kept = keyframes.rewind(1_500)
    expect(kept).toBe(1_000)
    for (const event of [...log.slice(kept, 1_500), late, ...log.slice(1_501)]) keyframes.append(event)
    for (const position of [1_499, 1_500, 1_501, 1_502, EVENTS, ...positions(30, 5)])
      expectSame(keyframes, log, position)
  })

  it('is right with frames few and far between when memory is short', () => {
    const keyframes = folded(log, 1)
    expect(keyframes.step).toBeGreaterThan(1_000)
    for (const position of [0, 700, 2_100, EVENTS]) expectSame(keyframes, log, position)
  })
})

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
