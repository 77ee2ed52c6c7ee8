// Promise: two documents are equal exactly when their difference is empty, and every difference names
// its place.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/domain/json/canonical.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, type JsonValue } from '../../src/domain/json/value.js'
import { diffDocuments } from '../../src/domain/replay/diff.js'

describe('diffDocuments', () => {
  it('names every place once, in a fixed order', () => {
    const from = parseJson('{"b":1,"a":{"x/y":[1,2,3],"~":null},"gone":{"deep":1},"same":[{}]}')
    const to = parseJson('{"same":[{}],"a":{"~":0,"x/y":[1,5]},"b":1.0,"new":[]}')
    expect(diffDocuments(from, to)).toStrictEqual([
      { pointer: '/a/x~1y/1', kind: 'changed', from: 2, to: 5 },
      { pointer: '/a/x~1y/2', kind: 'removed', from: 3 },
      { pointer: '/a/~0', kind: 'changed', from: null, to: 0 },
      { pointer: '/b', kind: 'changed', from: 1, to: new Float(1) },
      { pointer: '/gone', kind: 'removed', from: { deep: 1 } },
      { pointer: '/new', kind: 'added', to: [] },
    ])
  })

  it('compares a list with an object, a whole document, and keys that look like prototypes', () => {
    expect(diffDocuments([], {})).toEqual([{ pointer: '', kind: 'changed', from: [], to: {} }])
    expect(diffDocuments(new Float(1), new Float(1))).toEqual([])
    expect(diffDocuments(5n, 5)).toEqual([])
    const odd = parseJson('{"__proto__":1,"constructor":2}')
    expect(diffDocuments({}, odd).map((entry) => entry.pointer)).toEqual(['/__proto__', '/constructor'])
  })

  it('is empty exactly for equal documents', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
    fc.assert(
      fc.property(json, json, (from, to) => {
        expect(diffDocuments(from, from)).toEqual([])
        expect(diffDocuments(from, to).length === 0).toBe(canonicalJson(from) === canonicalJson(to))
      }),
    )
  })
})
