// Promise: walking goes forward and back through the same states, and keys do what the screen says.
import { describe, expect, it } from 'vitest'
import { moveTo, screen, splitKeys } from '../../src/cli/replay/walkScreen.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import { REGISTRY_DIGEST } from '../../src/domain/replay/schemaLabel.js'
import { wholeLog } from '../../src/services/replay/replay.js'
import { createWalk } from '../../src/services/replay/walk.js'
import { readVectors } from './replayVectors.js'

const log = (readVectors('replay')[0]!.input['log'] as JsonObject[]).filter(
  (row) => (row['tenant_id'] ?? 'default') === 'default',
)
const query = wholeLog({ tenantId: 'default', organizationId: 'default' }, '9001')

function stateAt(count: number): JsonObject {
  const { tenantId, organizationId, executionId } = query
  const options = { tenantId, organizationId, executionId, projection: 'all', upcasterRegistryDigest: REGISTRY_DIGEST }
  return foldEvents({ profile: 'cp', ...options }, log.slice(0, count)).state
}

describe('a walk', () => {
  it('shows the same state at a step from whichever side it is reached', () => {
    const walk = createWalk('cp', query, log, false)
    for (const index of [1, 2, 3, 14, 13, 2, 7, 14, 1]) expect(walk.step(index).state).toEqual(stateAt(index))
    expect(walk.step(1).changes).toContainEqual({ pointer: '/event_count', kind: 'changed', from: 0, to: 1 })
  })

  it('stays within the log', () => {
    expect(moveTo('next', 14, 14)).toBe(14)
    expect(moveTo('back', 1, 14)).toBe(1)
    expect(moveTo('further', 2, 14)).toBe(12)
    expect(moveTo('last', 2, 14)).toBe(14)
    expect(moveTo('first', 9, 14)).toBe(1)
    expect(moveTo('next', 0, 0)).toBe(0)
  })

  it('tells keys apart that arrive together', () => {
    expect(splitKeys('n\x1b[Cp\x1b[5~q')).toEqual(['n', '\x1b[C', 'p', '\x1b[5~', 'q'])
    expect(splitKeys('\x1b')).toEqual(['\x1b'])
  })

  it('draws a screen that fits and speaks without colours', () => {
    const walk = createWalk('cp', query, log, false)
    const lines = screen(walk.step(3), walk, false, 60).split('\n')
    expect(lines[0]).toMatch(/^event 3 of 14 {3}110$/)
    expect(lines.every((line) => line.length <= 62)).toBe(true)
    expect(lines.join('\n')).toContain('command.issued')
  })
})
