// Promise: a cp replay continues only from a snapshot that proves itself, and the answer is the same
// with it and without it.

import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import type { FoldOptions } from '../../src/domain/replay/foldTypes.js'
import { parseReplayQuery } from '../../src/domain/replay/replayQuery.js'
import { REGISTRY_DIGEST as DIGEST } from '../../src/domain/replay/schemaLabel.js'
import { selectReplayInput } from '../../src/domain/replay/selectReplayInput.js'
import { stateDocumentChecksum, verifyState } from '../../src/domain/replay/verifyState.js'
import { readVectors } from './replayVectors.js'

const LOG = readVectors('replay').find((vector) => vector.name === 'snapshot-used')!.input['log'] as JsonObject[]
const OPTIONS: FoldOptions = {
  profile: 'cp',
  tenantId: 'default',
  organizationId: 'default',
  executionId: 9001,
  projection: 'all',
  upcasterRegistryDigest: DIGEST,
}

function snapshot(upTo: number, change: (state: JsonObject) => JsonObject = (state) => state): JsonObject {
  const { state } = foldEvents(
    OPTIONS,
    LOG.filter((row) => (row['event_id'] as number) <= upTo),
  )
  return {
    tenant_id: 'default',
    organization_id: 'default',
    aggregate_type: 'cp_replay_state',
    aggregate_id: 'execution/9001/all',
    version: upTo,
    snapshot: change(parseJson(writeJson(state)) as JsonObject),
  }
}

function replay(snapshots: JsonObject[], parameters: Record<string, string> = {}) {
  const query = parseReplayQuery('cp', { execution_id: '9001', ...parameters })
  const selected = selectReplayInput('cp', LOG, snapshots, query, DIGEST)
  const result = foldEvents(
    { ...OPTIONS, projection: query.projection, baseState: selected.baseState },
    selected.events,
  )
  return { selected, result }
}

describe('a good seed', () => {
  it('spares its events and changes nothing, whatever is asked for', () => {
    for (const parameters of [{}, { projection: 'frame' }, { as_of_event_id: '150' }]) {
      const { selected, result } = replay([snapshot(115), snapshot(130)], parameters)
      expect(selected).toMatchObject({ seedRowFound: true, seedRefusal: null, afterEventId: 130, snapshotSeed: null })
      expect(selected.events.length).toBeLessThan(LOG.length)
      expect(result.state).toStrictEqual(replay([], parameters).result.state)
    }
  })

  it('is chosen below the cutoff', () => {
    expect(replay([snapshot(115), snapshot(130)], { as_of_event_id: '120' }).selected.afterEventId).toBe(115)
    expect(replay([snapshot(130)], { as_of_event_id: '120' }).selected.seedRowFound).toBe(false)
  })

  it('is not used for times and versions, which need not grow with the ids', () => {
    expect(replay([snapshot(115)], { as_of_time: '2026-03-01T00:01:10Z' }).selected.seedRowFound).toBe(false)
    expect(replay([snapshot(115)], { as_of_version: '3' }).selected.seedRowFound).toBe(false)
  })
})

describe('a bad seed', () => {
  const cases: [string, JsonObject, string][] = [
    ['tampered', snapshot(130, (state) => ({ ...state, event_count: 8 })), 'checksums'],
    ['of another profile', snapshot(130, ({ fold_profile: _mark, ...state }) => state), 'fold profile'],
    ['made with other upcasters', snapshot(130, (state) => ({ ...state, upcaster_registry_digest: 'x' })), 'upcasters'],
    ['of another execution', snapshot(130, (state) => ({ ...state, execution_id: 9002 })), 'another execution'],
    ['incomplete', snapshot(130, (state) => ({ ...state, projection: 'loop' })), 'every map'],
    ['empty', { ...snapshot(130), snapshot: {}, meta: { upcaster_registry_digest: DIGEST } }, 'fold profile'],
    ['with a wrong version', { ...snapshot(130), version: 135 }, 'version'],
  ]
  it.each(cases)('that is %s is refused and the log is read in full', (_what, row, reason) => {
    const { selected, result } = replay([row])
    expect(selected.seedRefusal).toContain(reason)
    expect(selected.afterEventId).toBe(null)
    expect(result.state).toStrictEqual(replay([]).result.state)
  })
})

describe('verifyState', () => {
  it('holds for golden states and names what does not fit', () => {
    const { state } = foldEvents(OPTIONS, LOG)
    expect(verifyState(state)).toEqual({ matched: true, profile: 'cp', mismatches: [], unverifiable: [] })
    const changed = { ...state, loops: {} }
    expect(verifyState(changed).mismatches.map((entry) => entry.place)).toEqual([
      'checksum',
      'projection_checksums/loops',
    ])
    expect(verifyState({ ...changed, checksum: stateDocumentChecksum(changed) }).mismatches).toHaveLength(1)
  })

  it('gives the same answer to a document of another shape', () => {
    const { state } = foldEvents(OPTIONS, LOG)
    // A null among the entities is enough to leave the fast way; it is not a row, but it is hashed.
    const odd: JsonObject = { ...state, stages: { ...(state['stages'] as JsonObject), odd: null } }
    expect(verifyState(odd).mismatches.map((entry) => entry.place)).toEqual(['checksum'])
    expect(verifyState({ ...odd, checksum: stateDocumentChecksum(odd) }).matched).toBe(true)
    expect(stateDocumentChecksum(state)).toBe(state['checksum'])
    expect(verifyState({ execution_id: 1 }).mismatches).toHaveLength(7)
  })

  it('holds for every golden state of python', () => {
    for (const vector of readVectors('fold')) {
      // Two ids that are the same integer sort by first mention, which no stored document keeps.
      if (vector.expect['state'] === undefined || vector.name === 'projection-row-sort-order') continue
      expect(verifyState(vector.expect['state'] as JsonObject)).toMatchObject({ matched: true, profile: 'python' })
    }
  })
})
