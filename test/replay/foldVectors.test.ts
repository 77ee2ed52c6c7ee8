// Promise: in profile `python` the fold gives every golden state byte for byte, checksums included.

import { describe, expect, it } from 'vitest'
import { canonicalChecksum, canonicalJson, sha256Hex } from '../../src/domain/json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import type { Integer } from '../../src/domain/replay/coerce.js'
import { createFold, foldEvents } from '../../src/domain/replay/fold.js'
import type { FoldOptions, SnapshotSeed } from '../../src/domain/replay/foldTypes.js'
import { documentSurfaceRows, surfaceChecksums } from '../../src/domain/replay/surfaceRows.js'
import { CpError } from '../../src/errors.js'
import { readBenchLog, readVectors } from './replayVectors.js'

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

const options: FoldOptions = {
  profile: 'python',
  tenantId: 'default',
  organizationId: 'default',
  executionId: 9001,
  projection: 'all',
  upcasterRegistryDigest: null,
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

  it('continues from a seed whose entities have missing, additional or odd fields', () => {
    const { state } = foldEvents(options, [
      { event_id: 1, event_type: 'frame.committed', frame_id: 9, stage_id: 2, command_id: 5, meta: { loop_id: 'L' } },
      { event_id: 2, event_type: 'command.issued', frame_id: 10, stage_id: 1, command_id: 4 },
      { event_id: 3, event_type: 'x', meta: { object_type: 'o', object_id: 1 }, payload_ref: { uri: 'u' } },
    ])
    const seed = structuredClone(state)
    const entity = (map: string, key: string) => (seed[map] as JsonObject)[key] as JsonObject
    entity('stages', '1')['note'] = 'kept'
    delete entity('frames', '9')['attempts']
    entity('frames', '10')['stage_id'] = 7
    entity('commands', '4')['issued_event_id'] = '12'
    entity('commands', '5')['locality'] = null
    delete entity('loops', 'L')['done']
    const before = canonicalJson(seed)
    const result = foldEvents({ ...options, baseState: seed }, [
      { event_id: 4, event_type: 'y', stage_id: 1, frame_id: 9 },
    ])
    expect(result.state['stages']).toMatchObject({ 1: { note: 'kept', last_event_id: 4 } })
    expect(sha256Hex(result.canonicalText())).toBe(result.checksum)
    expect(canonicalChecksum(hashedPart(result.state))).toBe(result.checksum)
    expect(surfaceChecksums(documentSurfaceRows('python', result.state))).toEqual(result.projectionChecksums)
    expect(documentSurfaceRows('python', result.state).commands).toMatchObject([
      { command_id: '4', issued_event_id: 12 },
      { command_id: '5', locality: {} },
    ])
    expect(canonicalJson(seed)).toBe(before)
  })

  it('refuses a seed that is not a state', () => {
    for (const base of [{ stages: [] }, { stages: { 1: 'x' } }]) {
      expect(() => foldEvents({ ...options, baseState: base }, [])).toThrow('the seed state cannot be continued')
    }
    const noList = { execution: { status: 'X' } }
    expect(foldEvents({ ...options, baseState: noList }, [{ event_id: 1 }]).eventCount).toBe(1)
    expect(() => foldEvents({ ...options, baseState: noList }, [{ event_id: 1, payload_ref: 'u' }])).toThrow(
      'event 1 cannot be folded',
    )
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
