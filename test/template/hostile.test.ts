// Templates come from strangers. Whatever is written into them, compiling and rendering end soon, keep within bounds, and
// throw nothing but the template error. Time grows no faster than the text.

import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { evaluateTemplate, TEMPLATE_KINDS } from '../../src/domain/template/evaluate.js'
import { Template } from '../../src/domain/template/template.js'
import { TemplateError } from '../../src/domain/template/templateError.js'

const CONTEXT = parseJson(
  '{"n": 3, "f": 2.5, "s": "hello", "l": [1, 2, 3], "o": {"a": {"b": [1]}}, "nul": null, "t": true, "x": "1,2"}',
) as JsonObject

function evaluate(template: string): unknown {
  return evaluateTemplate({ kind: 'value', template, context: CONTEXT }, 0)
}

/** Numbers in [0, 1) that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const PIECES = [
  ...[
    '{{',
    '}}',
    '{%',
    '%}',
    '{#',
    '#}',
    '{{-',
    '-%}',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '|',
    '.',
    ',',
    ':',
  ],
  ...['if', 'else', 'elif', 'endif', 'for', 'in', 'endfor', 'set', 'endset', 'raw', 'endraw', 'is', 'not', 'and', 'or'],
  ...[
    'n',
    'f',
    's',
    'l',
    'o',
    'nul',
    't',
    'x',
    'loop',
    'missing',
    'o.a',
    'l[0]',
    '1',
    '2.5',
    '0',
    '99999999999999999999',
  ],
  ...['+', '-', '*', '/', '//', '%', '**', '~', '==', '<', '>=', '=', ' ', '\n', 'ü', '𝒳', '\u0000', '\ud800'],
  ...['int', 'float', 'length', 'join', 'sort', 'map', 'batch', 'default', 'tojson', 'fromjson', 'replace', 'split'],
  ...[
    'unique',
    'dictsort',
    'format',
    'round',
    'selectattr',
    'sum',
    'first',
    'range',
    'now',
    'defined',
    'odd',
    '__proto__',
  ],
]

describe('random templates', () => {
  it('give a value or a template error, never anything else', () => {
    const random = randomFrom(7)
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
    let values = 0
    let errors = 0
    for (let round = 0; round < 4000; round++) {
      const length = 1 + Math.floor(random() * 14)
      const inner = Array.from({ length }, () => pick(PIECES)).join(pick(['', ' ']))
      const template = pick([inner, `{{ ${inner} }}`, `{{ n | ${inner} }}`, `{% for x in l %}${inner}{% endfor %}`])
      for (const kind of TEMPLATE_KINDS) {
        try {
          evaluateTemplate({ kind, template, context: CONTEXT }, 0)
          values++
        } catch (error) {
          if (!(error instanceof TemplateError)) throw new Error(`${kind} ${JSON.stringify(template)}: ${error}`)
          errors++
        }
      }
    }
    expect(values).toBeGreaterThan(500)
    expect(errors).toBeGreaterThan(500)
  })

  it('of well-formed expressions do so as well', () => {
    const random = randomFrom(11)
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
    const atoms = [
      'n',
      'f',
      's',
      'l',
      'o',
      'nul',
      't',
      'missing',
      '1',
      '-2',
      '2.5',
      '"a"',
      '[]',
      '[1, "b"]',
      '{"k": 1}',
      '10 ** 20',
    ]
    const filters =
      'int float string lower title trim split join first last length keys values items default tojson fromjson b64encode b64decode abs round sum min max sort reverse unique list batch(2) dictsort format(1) get(0) map("int") replace("l",n)'
    const make = (depth: number): string => {
      if (depth === 0) return pick(atoms)
      const a = () => make(depth - 1)
      switch (Math.floor(random() * 7)) {
        case 0:
          return `(${a()} ${pick(['+', '-', '*', '/', '//', '%', '**', '~', '==', '<', 'in', 'and', 'or'])} ${a()})`
        case 1:
          return `(${a()} | ${pick(filters.split(' '))})`
        case 2:
          return `[${a()}, ${a()}]`
        case 3:
          return `(${a()})[${a()}]`
        case 4:
          return `(${a()})[${a()}:]`
        case 5:
          return `(${a()} is ${pick(['defined', 'odd', 'mapping', 'upper', 'none'])})`
        default:
          return `(${a()} if ${a()} else ${a()})`
      }
    }
    let values = 0
    for (let round = 0; round < 2000; round++) {
      const template = `{{ ${make(1 + Math.floor(random() * 4))} }}`
      try {
        evaluate(template)
        values++
      } catch (error) {
        if (!(error instanceof TemplateError)) throw new Error(`${JSON.stringify(template)}: ${error}`)
      }
    }
    expect(values).toBeGreaterThan(200)
  })
})

describe('bounds', () => {
  it.each([
    ['length', `{{ n }}${' '.repeat(70_000)}`],
    ['nesting of parentheses', `{{ ${'('.repeat(200)}1${')'.repeat(200)} }}`],
    ['nesting of lists', `{{ ${'['.repeat(20_000)}${']'.repeat(20_000)} }}`],
    ['nesting of signs', `{{ ${'-'.repeat(60_000)}1 }}`],
    ['nesting of not', `{{ ${'not '.repeat(10_000)}1 }}`],
    ['nesting of blocks', '{% if t %}'.repeat(101) + '{% endif %}'.repeat(101)],
    ['conditional expressions', `{{ 1${' if 1'.repeat(10_000)} }}`],
    ['loop steps', '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}'],
    ['output', `{% for a in range(100000) %}${'x'.repeat(1000)}{% endfor %}`],
    ['growing texts', `{% set a = "${'x'.repeat(1000)}" %}${'{% set a = a ~ a %}'.repeat(40)}`],
    ['growing lists', `{% set a = range(1000) %}${'{% set a = a + a %}'.repeat(40)}`],
    ['values without an end', `{% set a = [1] %}${'{% set a = [a, a] %}'.repeat(60)}{{ a }}`],
    [
      'compared values without an end',
      `{% set a = [1] %}${'{% set a = [a, a] %}'.repeat(60)}{% set b = [1] %}${'{% set b = [b, b] %}'.repeat(60)}{{ a == b }}`,
    ],
    ['deep values', `{{ [1] ${'| batch(1)'.repeat(5000)} }}`],
    [
      'deep values compared',
      `{% set a = [1] ${'| batch(1)'.repeat(3000)} %}{% set b = [1] ${'| batch(1)'.repeat(3000)} %}{{ a == b }}`,
    ],
    ['replaced texts', `{{ "${'x'.repeat(20_000)}" | replace("x", "${'y'.repeat(20_000)}") }}`],
    ['joined texts', `{{ range(100000) | join("${'y'.repeat(20_000)}") }}`],
    ['integers', `{% set a = 2 ** 4000 %}{{ a * a }}`],
    ['powers', '{{ 99999999999 ** 99999999999 }}'],
    ['digits', `{{ "${'9'.repeat(5000)}" | int }}`],
    ['work', `{% for a in range(100000) %}{% set b = "${'x'.repeat(30_000)}" | upper %}{% endfor %}`],
    ['width', '{{ "%9999d%9999d" | format(1) }}'],
  ])('%s', (_, template) => {
    expect(() => evaluate(template)).toThrow(TemplateError)
  })

  it('long chains are no nests', () => {
    expect(evaluate(`{{ ${'1 + '.repeat(10_000)}1 }}`)).toBe(10_001)
    expect(evaluate(`{{ o${'.a'.repeat(20_000)} }}`)).toBe(null)
    expect(evaluate(`{{ 0${' or 0'.repeat(10_000)} }}`)).toBe(0)
    expect(evaluate(`{{ "a"${' | trim'.repeat(8000)} }}`)).toBe('a')
    expect(evaluate(`{% if 0 %}${'{% elif 0 %}'.repeat(5000)}{% else %}x{% endif %}`)).toBe('x')
  })
})

// Each shape is compiled and rendered at two lengths, one eight times the other. Linear means a ratio near 8, a
// quadratic shape has 64. The processor's time of this thread is counted, and the best of several pairs decides: a busy
// machine can only make a ratio worse now and then, not always.
describe('time grows with the text', () => {
  const RATIO_MAX = 24
  // Less than this is the clock's own grain.
  const BASE_MICROSECONDS = 500
  const shapes: readonly (readonly [string, (count: number) => string])[] = [
    ['open tags', (count) => '{{'.repeat(count)],
    ['open tags in code', (count) => '{{ ( '.repeat(count)],
    ['open comments in code', (count) => '{# '.repeat(count)],
    ['open quotes', (count) => `{{ "${'\\"'.repeat(count)}`],
    ['tags', (count) => '{{ n }}'.repeat(count)],
    ['statements', (count) => '{% if t %}{% endif %}'.repeat(count / 2)],
    [
      'variables',
      (count) => Array.from({ length: count / 4 }, (_, index) => `{% set v${index} = ${index} %}`).join(''),
    ],
    ['raw', (count) => `{% raw %}${'{% '.repeat(count)}`],
    ['spaces', (count) => `{{ n${' '.repeat(count * 4)}}}`],
    ['spaces in tags', (count) => `{%${' '.repeat(count * 4)}`],
    ['brackets', (count) => `{{ [${'1,'.repeat(count)}1] }}`],
    ['digits', (count) => `{{ ${'1'.repeat(count * 4)} }}`],
    ['names', (count) => `{{ ${'a'.repeat(count * 4)} }}`],
    ['json that is none', (count) => `{{ "[" }}${'['.repeat(count * 4)}{{ "]" }}`],
    ['words', (count) => `{{ "${'a '.repeat(count * 2)}" | split | unique | sort | join(",") | title }}`],
  ]
  it.each(shapes)('%s', (_, make) => {
    const microsecondsOf = (template: string) => {
      const before = process.cpuUsage()
      for (const isCode of [false, true]) {
        try {
          Template.compile(template, { isCode })
          evaluate(template)
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError)
        }
      }
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const short = make(800)
    const long = make(6400)
    let best = Number.POSITIVE_INFINITY
    for (let pair = 0; pair < 20 && best > RATIO_MAX; pair++) {
      const base = microsecondsOf(short)
      best = Math.min(best, microsecondsOf(long) / Math.max(base, BASE_MICROSECONDS))
    }
    expect(best).toBeLessThan(RATIO_MAX)
  })
})
