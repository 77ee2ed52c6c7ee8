// Promise: upcasting, payload reports, live rows and the reader's selection agree with every golden
// vector of profile `python`.

import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/domain/json/value.js'
import type { Integer } from '../../src/domain/replay/coerce.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import type { FoldOptions } from '../../src/domain/replay/foldTypes.js'
import { resolvePayloads } from '../../src/domain/replay/payloadResolution.js'
import { parseReplayQuery } from '../../src/domain/replay/replayQuery.js'
import { labelSchema, REGISTRY_DIGEST } from '../../src/domain/replay/schemaLabel.js'
import { selectReplayInput } from '../../src/domain/replay/selectReplayInput.js'
import { liveSurfaceRows, parityReport, surfaceChecksums } from '../../src/domain/replay/surfaceRows.js'
import { verifyState } from '../../src/domain/replay/verifyState.js'
import { CpError } from '../../src/errors.js'
import { readVectors, type Vector } from './replayVectors.js'

const vectors = (kind: string) =>
  readVectors(kind).map((vector): [string, string, Vector] => [vector.id, vector.name, vector])

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

describe('the schema of an event', () => {
  // The original's other vectors are about lifts, of which there are none.
  const withoutLifts = vectors('upcast').filter(([, , { input }]) => (input['registry'] as JsonObject[]).length === 0)

  it.each(withoutLifts)('%s %s', (_id, _name, { input, expect: wanted }) => {
    expect(REGISTRY_DIGEST).toBe(wanted['digest'])
    const run = () => (input['events'] as JsonObject[]).map((event) => labelSchema(event))
    if (isJsonObject(wanted['error'])) expect(run).toThrow(CpError)
    else expect(run()).toStrictEqual(wanted['events'])
  })

  it('is refused with a version that is none', () => {
    expect(withoutLifts.length).toBeGreaterThan(0)
    for (const schema_version of [0, -1, 'x', '']) {
      expect(() => labelSchema({ event_id: 3, schema_version })).toThrow('event 3: its schema version')
    }
  })
})

describe('payload resolution', () => {
  it.each(vectors('resolution'))('%s %s', async (_id, _name, { input, expect: wanted }) => {
    const result = foldEvents(options(input), input['events'] as JsonObject[])
    const references = result.payloadReferences()
    const store = input['store'] as JsonObject
    const calls: unknown[] = []
    const report = await resolvePayloads(
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

  it('calls an empty list of references resolved', async () => {
    const report = await resolvePayloads([], () => ({ value: null }), 'cp')
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
    const selected = selectReplayInput(
      'python',
      input['log'] as JsonObject[],
      input['snapshots'] as JsonObject[],
      query,
      REGISTRY_DIGEST,
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
        upcasterRegistryDigest: REGISTRY_DIGEST,
        baseState: selected.baseState,
        snapshotSeed: selected.snapshotSeed,
      },
      selected.events.map((event) => labelSchema(event)),
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
    const selected = selectReplayInput('python', input['log'] as JsonObject[], [], query, REGISTRY_DIGEST)
    const result = foldEvents(
      {
        profile: 'python',
        tenantId: query.tenantId,
        organizationId: query.organizationId,
        executionId: query.executionId,
        projection: query.projection,
        upcasterRegistryDigest: REGISTRY_DIGEST,
      },
      selected.events,
    )
    expect(result.state).toStrictEqual(wanted['body'])
  })
})
