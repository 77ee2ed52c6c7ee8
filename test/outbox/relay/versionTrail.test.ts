// Promise: the question for earlier rows is left out only where the versions prove that there are none.
import { describe, expect, it } from 'vitest'
import { createVersionTrail } from '../../../src/services/outbox/relay/versionTrail.js'

describe('the trail of versions', () => {
  it('trusts the first version and each that comes right after the last', () => {
    const trail = createVersionTrail()
    expect(['1', '2', '3'].map((version) => trail.follows('7', version))).toEqual([true, true, true])
    expect(trail.follows('8', '1')).toBe(true)
  })

  it('does not trust a gap, a repetition, or an execution it meets in the middle', () => {
    const trail = createVersionTrail()
    expect(trail.follows('7', '4')).toBe(false)
    expect(trail.follows('7', '6')).toBe(false)
    expect(trail.follows('7', '6')).toBe(false)
    expect(trail.follows('7', '7')).toBe(true)
  })

  it.each([null, '', 'x', '0', '-1', '1.5', '99999999999999999999'])(
    'trusts nothing any more after version %j',
    (odd) => {
      const trail = createVersionTrail()
      expect(trail.follows('7', '1')).toBe(true)
      expect(trail.follows('8', odd)).toBe(false)
      expect(trail.follows('7', '2')).toBe(false)
    },
  )

  it('forgets the oldest execution beyond its bound, and everything when lanes were gained', () => {
    const trail = createVersionTrail(2)
    for (const execution of ['1', '2', '3']) trail.follows(execution, '1')
    expect(trail.follows('1', '2')).toBe(false)
    expect(trail.follows('3', '2')).toBe(true)
    trail.clear()
    expect(trail.follows('3', '3')).toBe(false)
  })
})
