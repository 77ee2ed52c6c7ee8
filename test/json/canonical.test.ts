// Promise: the canonical text and its SHA-256 are byte-exact, for every golden vector.

import { describe, expect, it } from 'vitest'
import { canonicalChecksum, canonicalJson, sha256Hex } from '../../src/domain/json/canonical.js'
import { compareCodePoints } from '../../src/domain/json/codePoints.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, JSON_DEPTH_MAX } from '../../src/domain/json/value.js'
import { readVectors } from '../replay/replayVectors.js'

describe('canonicalJson', () => {
  it.each(readVectors('canonical').map((vector) => [vector.id, vector.name, vector] as const))(
    '%s %s',
    (_id, _name, vector) => {
      const value = vector.input['value']!
      expect(canonicalJson(value)).toBe(vector.expect['canonical'])
      expect(canonicalChecksum(value)).toBe(vector.expect['sha256'])
    },
  )

  it('writes the words that JSON lacks', () => {
    const value = [new Float(Number.NaN), new Float(Number.POSITIVE_INFINITY), new Float(Number.NEGATIVE_INFINITY)]
    expect(canonicalJson(value)).toBe('[NaN,Infinity,-Infinity]')
  })

  it('knows the digest of an empty list', () => {
    const digest = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'
    expect(canonicalChecksum([])).toBe(digest)
    expect(sha256Hex(Buffer.from('[]'))).toBe(digest)
  })

  it('sorts __proto__ like any other key', () => {
    expect(canonicalJson(parseJson('{"a":1,"__proto__":2,"Z":3}'))).toBe('{"Z":3,"__proto__":2,"a":1}')
  })

  it('reaches the deepest value that parseJson accepts', () => {
    const deep = `${'{"a":'.repeat(JSON_DEPTH_MAX - 1)}[1.0]${'}'.repeat(JSON_DEPTH_MAX - 1)}`
    expect(canonicalJson(parseJson(deep))).toBe(deep)
  })
})

describe('compareCodePoints', () => {
  it('sorts like the code points do', () => {
    const texts = [
      '',
      '10',
      '9',
      'Z',
      'z',
      'é',
      '\ud800',
      '\ud800\ue000',
      '\udfff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '😀',
      '😀a',
      '😁',
    ]
    const byPoints = (left: string, right: string) => {
      const [a, b] = [Array.from(left), Array.from(right)]
      for (let index = 0; index < Math.min(a.length, b.length); index++) {
        const difference = a[index]!.codePointAt(0)! - b[index]!.codePointAt(0)!
        if (difference !== 0) return difference
      }
      return a.length - b.length
    }
    for (const left of texts) {
      for (const right of texts) {
        expect(Math.sign(compareCodePoints(left, right))).toBe(Math.sign(byPoints(left, right)))
      }
    }
  })
})
