// Promise: in profile `python` the fold gives every golden state byte for byte, checksums included.

import { describe, expect, it } from 'vitest'
import { canonicalChecksum, canonicalJson } from '../../../src/domain/json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/domain/json/value.js'
import type { Integer } from '../../../src/domain/replay/coerce.js'
import { createFold, type FoldOptions, foldEvents, type SnapshotSeed } from '../../../src/domain/replay/fold.js'
import { CpError } from '../../../src/errors.js'
import { readBenchLog, readVectors } from '../replayVectors.js'

function optionsOf(input: JsonObject): FoldOptions {
  return {
    profile: 'python',
    tenantId: input['tenant_id'] as string,
    organizationId: input['organization_id'] as string,
    executionId: input['execution_id'] as Integer,
    projection: input['projection'] as string,
    upcasterRegistryDigest: input['upcaster_registry_digest'] as string | null,
    baseState: (input['base_state'] ?? null) as JsonObject | null,
    snapshotSeed: (input['snapshot_seed'] ?? null) as unknown as SnapshotSeed | null,
  }
}

function hashedPart(state: JsonObject): JsonObject {
  const { checksum, checksum_algorithm, projection_checksums, ...rest } = state
  return rest
}

describe('python profile', () => {
  it.each(readVectors('fold').map((vector) => [vector.id, vector.name, vector] as const))(
    '%s %s',
    (_id, _name, vector) => {
      const { input, expect: wanted } = vector
      const events = input['events'] as JsonObject[]
      const before = canonicalJson(input)
      if (isJsonObject(wanted['error'])) {
        expect(() => foldEvents(optionsOf(input), events)).toThrow(CpError)
        return
      }
      const result = foldEvents(optionsOf(input), events)
      if (wanted['canonical'] !== undefined) expect(result.canonicalText()).toBe(wanted['canonical'])
      expect(result.state).toStrictEqual(wanted['state'])
      expect(canonicalChecksum(hashedPart(result.state))).toBe(result.checksum)
      expect(canonicalJson(input)).toBe(before)
    },
  )

  it('names the event that cannot be folded', () => {
    const vector = readVectors('fold').find((candidate) => candidate.name === 'error-bad-row-count')!
    try {
      foldEvents(optionsOf(vector.input), vector.input['events'] as JsonObject[])
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(CpError)
      expect((error as CpError).code).toBe('corrupt')
      expect((error as CpError).details).toEqual({ event_id: '1', field: 'row_count' })
    }
  })

  it('folds a log of 100,000 events to the known checksums', () => {
    const log = readBenchLog()
    const wanted = log['expect'] as JsonObject
    const fold = createFold(optionsOf(log))
    for (const event of log['events'] as JsonObject[]) fold.add(event)
    const result = fold.finish()
    expect(result.eventCount).toBe(wanted['event_count'])
    expect(result.projectionChecksums as JsonValue).toEqual(wanted['projection_checksums'])
    expect(result.checksum).toBe(wanted['checksum'])
  })
})
