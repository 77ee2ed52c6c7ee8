// Promise: no pattern in the sources takes more than linear time, whatever it is held against.
import { describe, expect, it } from 'vitest'
import { readSources } from '../support/architecture.js'
import { growthOf, RATIO_MAX } from '../support/growth.js'
import { patternsOf, type WrittenPattern } from '../support/patterns.js'

const SIZE = 2_000
const PIECES = [
  'a',
  'A',
  '0',
  '7',
  ' ',
  '\t',
  '\n',
  '/',
  '-',
  '_',
  '.',
  ',',
  ':',
  '=',
  '+',
  '"',
  "'",
  '\\',
  '@',
  '%',
  '#',
]

/** What is repeated: common pieces, and those that the pattern itself speaks of. */
function piecesFor({ source }: RegExp): Set<string> {
  const own = source.match(/[A-Za-z0-9]{2,11}|[^A-Za-z0-9\\]/g) ?? []
  return new Set([...PIECES, ...own, ...own.map((piece) => `${piece}a`)])
}

/** The largest growth over all texts; each ends in something that does not fit. */
function worst({ pattern }: WrittenPattern): { ratio: number; ms: number; text: string } {
  const global = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '').concat('g'))
  let found = { ratio: 0, ms: 0, text: '' }
  for (const piece of piecesFor(pattern)) {
    const work = (length: number) => {
      const text = `a ${piece.repeat(length / piece.length)}\u0001`
      // A sticky pattern is held against one place only.
      return () => (pattern.sticky ? new RegExp(pattern).exec(text) : text.replace(global, ''))
    }
    const growth = growthOf(work, SIZE)
    if (growth !== undefined && growth.ratio > found.ratio) found = { ...growth, text: `(${piece})*` }
    if (found.ratio > RATIO_MAX) break
  }
  return found
}

const PATTERNS = readSources().flatMap(patternsOf)

describe('the reader of patterns', () => {
  it('finds them, and nothing else', () => {
    const text = [
      'const a = /x+$/g // not /this/',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a source with a template in it
      "const b = c / d / e; const f = '/no/'; const g = `/no/ ${h.replace(/y[/]z/, `${i / 2}`)} /no/`",
      'if (/q/.test(x)) return /r/u',
    ].join('\n')
    expect(patternsOf({ path: 'a.ts', text }).map(({ place, pattern }) => `${place} ${pattern}`)).toEqual([
      'a.ts:1 /x+$/g',
      'a.ts:2 /y[/]z/',
      'a.ts:3 /q/',
      'a.ts:3 /r/u',
    ])
    expect(PATTERNS.length).toBeGreaterThan(100)
  })

  it.each([/a+$/, /^\/+|\/+$/g])('tells a quadratic one: %s', (pattern) => {
    expect(worst({ place: '', pattern }).ratio).toBeGreaterThan(RATIO_MAX)
  })
})

it.each(PATTERNS)('$place $pattern', (written) => {
  const found = worst(written)
  expect(
    found.ratio,
    `grows by ${found.ratio.toFixed(1)} for ${found.text} (${found.ms.toFixed(0)} ms)`,
  ).toBeLessThanOrEqual(RATIO_MAX)
})
