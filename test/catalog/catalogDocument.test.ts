// Promise: a document becomes exactly what its author wrote, or is refused with every mistake and its place;
// no document, however built, costs more than a bounded amount of time and memory.

import { describe, expect, it } from 'vitest'
import {
  type CatalogDocumentOptions,
  contentDigest,
  parseCatalogDocument,
} from '../../src/domain/catalog/catalogDocument.js'
import type { Violation } from '../../src/domain/catalog/violation.js'
import { Float } from '../../src/domain/json/value.js'
import { CpError } from '../../src/errors.js'

const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: orders
  path: shop/orders
  labels: {team: a}
workload:
  big: 9223372036854775807
  ratio: 1.0
workflow:
  - step: start
    tool: {kind: noop}
`

function violationsOf(text: string, options?: CatalogDocumentOptions): Violation[] {
  try {
    parseCatalogDocument(text, options)
  } catch (error) {
    if (error instanceof CpError && error.code === 'refused') return error.details['violations'] as Violation[]
    throw error
  }
  return []
}

const pathsOf = (text: string, options?: CatalogDocumentOptions) => violationsOf(text, options).map(({ path }) => path)

describe('a good document', () => {
  it('gives path, kind and the three derived parts without loss', () => {
    const parsed = parseCatalogDocument(PLAYBOOK)
    expect(parsed).toMatchObject({ path: 'shop/orders', kind: 'playbook', content: PLAYBOOK, meta: { team: 'a' } })
    expect(parsed.payload).toEqual({ big: 9223372036854775807n, ratio: new Float(1) })
    expect(parsed.layout).toEqual([{ step: 'start', tool: { kind: 'noop' } }])
  })

  it('may come as base64, also wrapped', () => {
    const encoded = Buffer.from(PLAYBOOK)
      .toString('base64')
      .replace(/(.{60})/g, '$1\n')
    expect(parseCatalogDocument(encoded)).toEqual(parseCatalogDocument(PLAYBOOK))
  })

  it('falls back to the name and to the given kind', () => {
    const text = 'metadata: {name: x}\n'
    expect(parseCatalogDocument(text)).toMatchObject({ path: 'x', kind: 'playbook' })
    expect(parseCatalogDocument(text, { resourceType: 'Credential' })).toMatchObject({ kind: 'credential' })
    expect(parseCatalogDocument(text)).not.toHaveProperty('payload')
  })

  it('keeps keys that would touch a prototype as keys', () => {
    const { payload } = parseCatalogDocument('metadata: {name: x}\nworkload: {__proto__: {admin: true}}\n')
    expect(Object.keys(payload as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  it('may use a few aliases', () => {
    const { payload } = parseCatalogDocument('metadata: {name: x}\nworkload: {a: &a [1], b: *a}\n')
    expect(payload).toEqual({ a: [1], b: [1] })
  })
})

describe('YAML', () => {
  const workloadOf = (text: string) => parseCatalogDocument(`metadata: {name: x}\nworkload: ${text}\n`).payload
  it.each([
    ['{a: &a 1, b: &a 2, c: *a}', { a: 1, b: 2, c: 2 }],
    ['{a: &a {x: &b 1}, b: *a, c: &b 2, d: *a, e: *b}', { a: { x: 1 }, b: { x: 1 }, c: 2, d: { x: 1 }, e: 2 }],
    ['{&k key: 1, other: *k , *k : 2}', undefined],
    ['{&k key: 1, other: *k }', { key: 1, other: 'key' }],
    ['{1: a, true: b, null: c, 1.50: d}', { 1: 'a', true: 'b', '': 'c', 1.5: 'd' }],
    [
      '{day: 2024-01-01, bytes: !!binary aGk=, set: !!set {a, b}, on: on}',
      { day: '2024-01-01', bytes: 'aGk=', set: { a: null, b: null }, on: 'on' },
    ],
    ['[0x10, 0o17, 1_000]', [16, 15, '1_000']],
    ['{<<: {a: 1}}', { a: 1 }],
    ['{"<<": {a: 1}}', { '<<': { a: 1 } }],
    ['{base: &b {a: 1, b: 1}, own: {b: 2, <<: *b, c: 3}}', { base: { a: 1, b: 1 }, own: { a: 1, b: 2, c: 3 } }],
    ['{base: &b {a: 1, b: 1}, own: {<<: *b, b: 2}}', { base: { a: 1, b: 1 }, own: { a: 1, b: 2 } }],
    [
      '{x: &x {a: 1}, y: &y {a: 2, b: 2}, own: {<<: [*x, *y]}}',
      { x: { a: 1 }, y: { a: 2, b: 2 }, own: { a: 1, b: 2 } },
    ],
    ['{x: &x {a: 1}, y: &y {<<: *x, b: 2}, own: {<<: *y}}', { x: { a: 1 }, y: { a: 1, b: 2 }, own: { a: 1, b: 2 } }],
    ['{<<: {a: {x: 1}}, a: {y: 2}}', { a: { y: 2 } }],
    ['{<<: {a: 1}, <<: {b: 1}}', undefined],
  ])('%s is read as %j', (text, expected) => {
    if (expected === undefined) expect(() => workloadOf(text)).toThrow('is there twice')
    else expect(workloadOf(text)).toEqual(expected)
  })

  it('is one language, whatever version the document declares', () => {
    const text = '%YAML 1.1\n---\nmetadata: {name: x}\nworkload: {a: yes, b: 2024-01-01, c: 017}\n'
    expect(parseCatalogDocument(text).payload).toEqual({ a: 'yes', b: '2024-01-01', c: 17 })
  })
})

describe('a bad document', () => {
  it.each([
    ['', ['']],
    ['- a\n', ['']],
    ['just text', ['']],
    ['kind: Playbook\n', ['/metadata']],
    ['kind: Nonsense\nmetadata: []\n', ['/kind', '/metadata']],
    ['kind: 7\nmetadata: {path: [1]}\n', ['/kind', '/metadata/path']],
    ['metadata: {path: "  "}\n', ['/metadata/path']],
    ['metadata: {path: "a\\tb"}\n', ['/metadata/path']],
    ['metadata: {}\n', ['/metadata/path']],
    ['metadata: {name: x}\nworkload: {a: .nan, b: [.inf]}\n', ['/workload/a', '/workload/b/0']],
    ['metadata: {name: x}\nworkload: {a/b: "\\0"}\n', ['/workload/a~1b']],
    ['metadata: {name: x}\n---\nmetadata: {name: y}\n', ['']],
    ['metadata: {name: x}\nworkload: {a: 1, a: 2}\n', ['/workload/a']],
    ['a: [1\nb: 2', ['']],
    ['metadata: {name: x}\nworkload: {"1": a, 1: b}\n', ['/workload/1']],
    ['metadata: {name: x}\nworkload: {? [a] : b}\n', ['/workload']],
    ['metadata: {name: x}\nworkload: {a: *b, b: &b 1}\n', ['/workload/a']],
    ['metadata: {name: x}\nworkload: {<<: 1}\n', ['/workload/<<']],
    ['metadata: {name: x}\nworkload: {a: &a [x], b: {<<: *a}, c: {<<: }}\n', ['/workload/b/<<', '/workload/c/<<']],
    ['metadata: {name: x}\nworkload: &w {<<: *w}\n', ['/workload/<<']],
    ['metadata: {name: x}\nworkload: {<<: {a: .nan}}\n', ['/workload/<</a']],
    [`metadata: {name: x}\nworkload: ${'7'.repeat(4_301)}\n`, ['']],
    [`kind: Subscription\nmetadata: {name: x}\nspec: {a: ${'7'.repeat(131_072)}}\n`, ['']],
  ])('%j is refused at %j', (text, paths) => {
    expect(pathsOf(text)).toEqual(paths)
  })

  it('names line and column of a YAML mistake', () => {
    expect(violationsOf('metadata: {name: x}\nworkload: {a: 1, a: 2}\n')[0]?.message).toMatch(/line 2, column \d+/)
  })

  it('lists the mistakes of a subscription beside its own', () => {
    expect(pathsOf('kind: Subscription\nmetadata: {}\nspec: {source: mqtt, mode: pull}\n')).toEqual([
      '/metadata/path',
      '/spec/source',
      '/spec/dispatch',
    ])
  })
})

describe('hostile documents', () => {
  // An unfolded bomb would take minutes or all memory; the bound only tells one from the other.
  const quick = (run: () => unknown) => {
    const started = performance.now()
    const result = run()
    expect(performance.now() - started).toBeLessThan(60_000)
    return result
  }

  it('cannot unfold through aliases', () => {
    let text = 'metadata: {name: x}\na0: &a0 [x,x,x,x,x,x,x,x,x]\n'
    for (let level = 1; level < 12; level++) {
      text += `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(',')}]\n`
    }
    expect(quick(() => violationsOf(text))).toHaveLength(1)
  })

  it('cannot unfold through merges', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}: 1`).join(', ')
    const merges = Array.from({ length: 1_000 }, (_, index) => `m${index}: {<<: *a}`).join(', ')
    expect(quick(() => violationsOf(`metadata: {name: x}\na: &a {${keys}}\nb: {${merges}}\n`))).toHaveLength(1)
  })

  it('cannot touch a prototype by a merge', () => {
    const { payload } = parseCatalogDocument('metadata: {name: x}\nworkload: {<<: {__proto__: {admin: true}}}\n')
    expect(Object.keys(payload as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  it('cannot contain themselves', () => {
    expect(quick(() => violationsOf('metadata: {name: x}\nworkload: &w {self: *w}\n'))).not.toHaveLength(0)
  })

  it.each([
    ['flow', '['.repeat(200_000)],
    ['closed flow', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['maps', `metadata: ${'{a: '.repeat(5_000)}1${'}'.repeat(5_000)}`],
    ['block', Array.from({ length: 400 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')],
    ['sequences', '- '.repeat(20_000)],
  ])('cannot overflow the stack (%s)', (_, text) => {
    expect(quick(() => violationsOf(text))).not.toHaveLength(0)
  })

  it('cannot write much by naming a long text often', () => {
    const aliases = Array(100).fill('*a').join(', ')
    expect(violationsOf(`metadata: {name: x}\na: &a ${'x'.repeat(100_000)}\nb: [${aliases}]\n`)).toHaveLength(1)
  })

  it('cannot be deep through aliases', () => {
    const levels = Array.from({ length: 70 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}]\n`).join('')
    expect(violationsOf(`metadata: {name: x}\na0: &a0 x\n${levels}`)).not.toHaveLength(0)
  })

  it('cannot make a long answer', () => {
    const twice = Array.from({ length: 1_000 }, (_, index) => `k${index}: 1\nk${index}: 2\n`).join('')
    const keys = violationsOf(`metadata: {name: x}\n${twice}`)
    expect(keys).toHaveLength(101)
    expect(keys[100]?.message).toContain('900 more')
    const long = 'k'.repeat(1_000)
    expect(violationsOf(`metadata: {name: x}\n${long}: 1\n${long}: 2\n`)[0]?.path.length).toBeLessThan(400)
  })

  it('cannot overflow the stack by empty lines or comments', () => {
    for (const filler of ['\n', '# c\n', ' \n', '  # c\n\n']) {
      const text = `metadata: {name: x}\na:\n${filler.repeat(200_000 / filler.length)}b: 1\n`
      expect(() => violationsOf(text)).not.toThrow()
    }
  })

  it('cannot be larger than the limit, in either form', () => {
    const big = `metadata: {name: x}\nworkload: "${'a'.repeat(1_048_576)}"\n`
    for (const text of [big, Buffer.from(big).toString('base64'), 'x'.repeat(5_000_000)]) {
      expect(() => parseCatalogDocument(text)).toThrowError(expect.objectContaining({ code: 'too_large' }))
    }
  })
})

describe('digest', () => {
  it('is the same for the same document and for nothing else', () => {
    expect(contentDigest(PLAYBOOK)).toBe(contentDigest(`${PLAYBOOK.replaceAll('\n', '\r\n')}\n\n`))
    expect(contentDigest(PLAYBOOK)).not.toBe(contentDigest(PLAYBOOK.replace('1.0', '1')))
    expect(contentDigest(PLAYBOOK)).toMatch(/^[0-9a-f]{64}$/)
  })
})
