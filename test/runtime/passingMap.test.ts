import { describe, expect, it } from 'vitest'
import { PassingMap } from '../../src/runtime/passingMap.js'

describe('PassingMap', () => {
  it('keeps, overwrites in place, and forgets', () => {
    const map = new PassingMap<string, number>()
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    expect([...map]).toEqual([
      ['a', 3],
      ['b', 2],
    ])
    expect(map.delete('a')).toBe(true)
    expect(map.delete('a')).toBe(false)
    expect([map.get('a'), map.has('a'), map.size]).toEqual([undefined, false, 1])
    map.set('a', 4)
    expect([...map.keys()]).toEqual(['b', 'a'])
    expect([...map.values()]).toEqual([2, 4])
  })

  it('can lose entries while it is looked through', () => {
    const map = new PassingMap<number, string>()
    for (let n = 0; n < 4; n++) map.set(n, `v${n}`)
    const seen: string[] = []
    for (const [key, value] of map) {
      seen.push(value)
      map.delete(key)
      map.delete(key + 1)
    }
    expect(seen).toEqual(['v0', 'v2'])
    expect(map.size).toBe(0)
  })
})
