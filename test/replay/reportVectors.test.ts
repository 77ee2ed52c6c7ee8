// Promise: upcasting, payload reports, live rows and the reader's selection agree with every golden
// vector of profile `python`.

import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/domain/json/value.js'
import type { Integer } from '../../src/domain/replay/coerce.js'
import { type FoldOptions, foldEvents } from '../../src/domain/replay/fold.js'
import { resolvePayloads } from '../../src/domain/replay/payloadResolution.js'
import { parseReplayQuery } from '../../src/domain/replay/replayQuery.js'
import { selectReplayInput } from '../../src/domain/replay/selectReplayInput.js'
import { liveSurfaceRows, parityReport, surfaceChecksums } from '../../src/domain/replay/surfaceRows.js'
import { UpcasterRegistry } from '../../src/domain/replay/upcasters.js'
import { verifyState } from '../../src/domain/replay/verifyState.js'
import { CpError } from '../../src/errors.js'
import { readVectors, type Vector } from './replayVectors.js'

const vectors = (kind: string) =>
  readVectors(kind).map((vector): [string, string, Vector] => [vector.id, vector.name, vector])
const EMPTY_DIGEST = new UpcasterRegistry().digest()

function options(input: JsonObject): FoldOptions {
  return {
    profile: 'python',
    tenantId: input['tenant_id'] as string,
    organizationId: input['organization_id'] as string,
    executionId: input['execution_id'] as Integer,
    projection: input['projection'] as string,
    upcasterRegistryDigest: input['upcaster_registry_digest'] as string | null,
  }
}

describe('upcasting', () => {
  it.each(vectors('upcast'))('%s %s', (_id, _name, { input, expect: wanted }) => {
    const registry = new UpcasterRegistry()
    for (const entry of input['registry'] as JsonObject[]) {
      const merge = entry['merge'] as JsonObject
      registry.register(entry['schema_name'] as string, entry['from_version'] as number, (event) => ({
        ...event,
        ...merge,
      }))
    }
    expect(registry.digest()).toBe(wanted['digest'])
    const run = () => (input['events'] as JsonObject[]).map((event) => registry.upcast(event))
    if (isJsonObject(wanted['error'])) expect(run).toThrow(CpError)
    else expect(run()).toStrictEqual(wanted['events'])
  })

  it('ends when two schemas lift into each other', () => {
    const registry = new UpcasterRegistry()
    registry.register('a', 1, (event) => ({ ...event, schema_name: 'b' }))
    registry.register('b', 1, (event) => ({ ...event, schema_name: 'a' }))
    expect(() => registry.upcast({ event_id: 7, schema_name: 'a' })).toThrow('event 7 cannot be upcast: more than')
  })

  it.each([
    ['', 1],
    ['a', 0],
    ['a', 1.5],
  ])('refuses to register %j from version %d', (name, version) => {
    expect(() => new UpcasterRegistry().register(name, version, (event) => event)).toThrow(CpError)
  })

  it('refuses a second upcaster and a version that is none', () => {
    const registry = new UpcasterRegistry()
    registry.register('a', 1, (event) => event)
    expect(() => registry.register('a', 1, (event) => event)).toThrow('two upcasters')
    for (const schema_version of [0, -1, 'x', '']) {
      expect(() => registry.upcast({ event_id: 3, schema_version })).toThrow('event 3 cannot be upcast')
    }
  })
})

describe('payload resolution', () => {
  it.each(vectors('resolution'))('%s %s', (_id, _name, { input, expect: wanted }) => {
    const result = foldEvents(options(input), input['events'] as JsonObject[])
    const references = result.payloadReferences()
    const store = input['store'] as JsonObject
    const calls: unknown[] = []
    const report = resolvePayloads(
      references,
      ({ input: asked, locator }) => {
        calls.push(asked)
        const stored = store[locator] as JsonObject | undefined
        if (stored === undefined) return { error: `'${locator}'` }
        return 'error' in stored ? { error: stored['error'] as string } : { value: stored['value'] ?? null }
      },
      'python',
    )
    expect(result.checksum).toBe(wanted['state_checksum'])
    expect(references).toStrictEqual(wanted['references'])
    expect(calls).toStrictEqual(wanted['store_calls'])
    expect(report.payload_resolution).toStrictEqual(wanted['payload_resolution'])
    expect(report.payload_resolution_summary).toStrictEqual(wanted['payload_resolution_summary'])
    expect(verifyState({ ...result.state, ...report }).matched).toBe(true)
  })

  it('calls an empty list of references resolved', () => {
    const report = resolvePayloads([], () => ({ value: null }), 'cp')
    expect(report.payload_resolution_summary).toMatchObject({ total: 0, all_resolved: true })
  })
})

describe('live rows', () => {
  it.each(vectors('live'))('%s %s', (_id, _name, { input, expect: wanted }) => {
    const rows = liveSurfaceRows('python', input['rows'] as JsonObject)
    expect(rows).toStrictEqual(wanted['normalized'])
    const live = surfaceChecksums(rows)
    expect(live).toStrictEqual(wanted['projection_checksums'])
    const replayed = foldEvents(
      {
        ...options({ tenant_id: 'default', organization_id: 'default', execution_id: 9001, projection: 'all' }),
        upcasterRegistryDigest: null,
      },
      (input['replayed_events'] ?? []) as JsonObject[],
    )
    expect(parityReport(replayed.projectionChecksums, live)).toStrictEqual(wanted['parity_report'])
    expect(parityReport(live, live).matched).toBe(true)
    expect(parityReport({}, {}).matched).toBe(false)
  })
})

describe('selection of rows and seed', () => {
  it.each(vectors('replay'))('%s %s', (_id, _name, { input, expect: wanted }) => {
    const asked = Object.entries(input['query'] as JsonObject).map(([key, value]) => [key, String(value)])
    const query = parseReplayQuery('python', Object.fromEntries(asked) as Record<string, string>)
    const registry = new UpcasterRegistry()
    const selected = selectReplayInput(
      'python',
      input['log'] as JsonObject[],
      input['snapshots'] as JsonObject[],
      query,
      registry.digest(),
    )
    expect(selected.seedRowFound).toBe(wanted['seed_row_found'])
    expect(selected.baseState !== null).toBe(wanted['seed_used'])
    expect(selected.afterEventId).toBe(wanted['after_event_id'])
    expect(selected.events.map((event) => event['event_id'])).toStrictEqual(wanted['loaded_event_ids'])
    const result = foldEvents(
      {
        profile: 'python',
        tenantId: query.tenantId,
        organizationId: query.organizationId,
        executionId: query.executionId,
        projection: query.projection,
        upcasterRegistryDigest: registry.digest(),
        baseState: selected.baseState,
        snapshotSeed: selected.snapshotSeed,
      },
      selected.events.map((event) => registry.upcast(event)),
    )
    expect(result.state).toStrictEqual(wanted['state'])
    if (wanted['canonical'] !== undefined) expect(result.canonicalText()).toBe(wanted['canonical'])
  })
})

describe('HTTP parameters', () => {
  // A refusal is 400 here for both kinds of mistakes; the reference told them apart as 400 and 422.
  it.each(vectors('http'))('%s %s', (_id, _name, { input, expect: wanted }) => {
    const parameters = input['params'] as Record<string, string>
    if (wanted['status'] !== 200) {
      expect(() => parseReplayQuery('python', parameters)).toThrow(CpError)
      return
    }
    const query = parseReplayQuery('python', parameters)
    const selected = selectReplayInput('python', input['log'] as JsonObject[], [], query, EMPTY_DIGEST)
    const result = foldEvents(
      {
        profile: 'python',
        tenantId: query.tenantId,
        organizationId: query.organizationId,
        executionId: query.executionId,
        projection: query.projection,
        upcasterRegistryDigest: EMPTY_DIGEST,
      },
      selected.events,
    )
    expect(result.state).toStrictEqual(wanted['body'])
  })
})
