// Promise: the items of a long loop and what it gave are stored outside of the log, and nobody who reads them notices.

import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { objectAt } from '../../src/domain/state/workflowEvent.js'
import { KnownValues } from '../../src/services/state/inThread/knownValues.js'
import { type Run, type RunOptions, run } from './run.js'

const LIMIT = 64 * 1024

function loopOver(mode: 'sequential' | 'parallel', more = ''): string {
  return `workflow:
- {step: each, loop: {in: "{{ workload.items }}", iterator: x, spec: {mode: ${mode}}}, tool: {kind: python, code: "", input: {v: "{{ x.n }}"}}, next: [read]}
- {step: read, tool: {kind: python, code: "", input: {${more === '' ? 'n: "{{ each.stats.total }}"' : more}}}}
`
}

const itemsOf = (count: number, padding = 40): JsonValue[] =>
  Array.from({ length: count }, (_, n) => ({ z: 'x'.repeat(padding), n, a: { b: 1 } }))

function entered(one: Run): JsonObject {
  return one.log.find(({ eventType }) => eventType === 'step.enter')?.context as JsonObject
}

const argumentsOf = (one: Run, step: string, suffix = ''): JsonObject =>
  one.issued(one.id(step, 1, suffix))['args'] as JsonObject

describe('items', () => {
  it('of up to 64 KB are in the log, more are stored', () => {
    const [first] = itemsOf(1, 0)
    const room = LIMIT - JSON.stringify([first]).length
    for (const [padding, isStored] of [
      [room, false],
      [room + 1, true],
    ] as const) {
      const items = itemsOf(1, padding)
      const one = run(loopOver('parallel'), { workload: { items } })
      expect(Object.hasOwn(entered(one), 'items'), `${padding}`).toBe(!isStored)
      expect(Object.hasOwn(entered(one), 'items_ref'), `${padding}`).toBe(isStored)
      expect([...one.stored.values()]).toEqual(isStored ? [items] : [])
      expect(entered(one)).toMatchObject({ iterations_expected: 1, iterator_var: 'x' })
    }
  })

  it('that are stored are given to each command in order, also after a restart', () => {
    const one = run(loopOver('sequential'), { workload: { items: itemsOf(1_000) } })
    for (const index of [0, 1, 2]) {
      expect(argumentsOf(one, 'each', `i${index}`)).toMatchObject({ v: index, _total: 1_000 })
      one.answer('each', index, 1, `i${index}`)
      one.restart(index === 0 ? 'text' : 'log')
    }
    expect(one.fetches.length).toBeGreaterThan(0)
  })

  it('that are gone fail the execution and say so', () => {
    const one = run(loopOver('sequential'), { workload: { items: itemsOf(1_000) } })
    one.stored.clear()
    one.answer('each', 0, 1, 'i0')
    expect(one.end?.error).toContain('the items stored under noetl://stored/0 are gone')
  })
})

it('a result that a worker has stored shows its small parts among the results', () => {
  const one = run(
    'workflow:\n- {step: each, loop: {in: [0]}, tool: {kind: python, code: ""}, next: [read]}\n- {step: read, tool: {kind: python, code: "", input: {v: "{{ each.results[0].status }}", at: "{{ each.results[0]._ref }}"}}}\n',
  )
  const id = one.id('each', 1, 'i0')
  const reference = { kind: 'result_ref', ref: 'noetl://r/1', extracted: { status: 'loaded' } }
  const result = { status: 'success', context: { data: { _ref: 'noetl://r/1' } }, reference }
  one.append({
    eventType: 'call.done',
    nodeName: 'each',
    result: { status: 'COMPLETED', context: { command_id: id, result } },
    meta: { command_id: id },
  })
  one.completed(id)
  expect(argumentsOf(one.settle(), 'read')).toEqual({ v: 'loaded', at: 'noetl://r/1' })
})

describe('results that a worker has stored one by one', () => {
  const stored = new Map<string, JsonValue>([
    ['noetl://r/0', { status: 'loaded', rows: [1, 2, 3] }],
    ['noetl://r/2', { status: 'loaded', rows: [4] }],
  ])

  /** The second of three is small enough for its event. */
  function behind(reader: string, options: RunOptions = { stored }, bytes = 200_000): Run {
    const one = run(
      `workflow:\n- {step: each, loop: {in: 3, spec: {mode: parallel}}, tool: {kind: python, code: ""}, next: [read]}\n- ${reader}\n`,
      options,
    )
    for (const index of [2, 0]) {
      const ref = `noetl://r/${index}`
      const command = one.id('each', 1, `i${index}`)
      const reference = { kind: 'result_ref', ref, extracted: { status: 'loaded' }, meta: { bytes } }
      const result = { status: 'success', context: { data: { _ref: ref } }, reference }
      const context = { command_id: command, result }
      one.append({
        eventType: 'call.done',
        nodeName: 'each',
        result: { status: 'COMPLETED', context },
        meta: { command_id: command },
      })
      one.completed(command)
    }
    return one.answer('each', { status: 'small', rows: [] }, 1, 'i1')
  }

  const values = (template: string, options?: RunOptions): JsonValue | undefined => {
    const one = behind(`{step: read, tool: {kind: noop, result: ${JSON.stringify(template)}}}`, options)
    const end = one.end
    return end?.error ?? (objectAt(end?.result ?? null, 'context')['data'] as JsonValue)
  }

  it.each<[string, JsonValue]>([
    ['{{ each.results | map(attribute="rows") | list }}', [[1, 2, 3], [], [4]]],
    ['{{ each.data[0].rows | length }}', 3],
    ['{{ steps.each.data.results[2].rows[0] }} {{ each.result.results[2].rows[0] }}', '4 4'],
    ['{{ each.results[0] | keys }}', ['status', 'rows']],
    ['{{ each | keys | sort }}', ['data', 'errors', 'results', 'stats']],
    ['{{ result.results[-1].rows }}', [4]],
    ['{% for one in each.results %}{{ one.rows | length }}{% endfor %}', 301],
  ])('are read by %s like any others', (template, value) => {
    expect(values(template)).toEqual(value)
  })

  it('are fetched only where more than a small part is read', () => {
    expect(values('{{ each.results[0].status }} {{ each.stats.total }}', {})).toBe('loaded 3')
    const one = behind('{step: read, tool: {kind: noop, result: "{{ each.results[2].rows }}"}}')
    expect(one.fetches).toEqual(['noetl://r/2'])
  })

  it('are handed to tools as references, each in its place', () => {
    const one = behind(
      '{step: read, tool: {kind: python, code: "", input: {all: "{{ each.results }}", one: "{{ each.results[2] }}"}}}',
      {},
    )
    expect(one.fetches).toEqual([])
    expect(one.log.at(-1)?.meta).toMatchObject({ references: ['/args/all/0', '/args/all/2', '/args/one'] })
    const { all, one: single } = argumentsOf(one, 'read') as { all: JsonObject[]; one: JsonObject }
    expect(all.map(({ __ref__ }) => __ref__)).toEqual(['noetl://r/0', undefined, 'noetl://r/2'])
    expect(single).toMatchObject({ __ref__: 'noetl://r/2' })
  })

  it('are told of where they are the result of the execution', () => {
    const one = behind('{step: read, when: false, tool: {kind: noop}}')
    expect(one.end?.result).toMatchObject({
      context: {
        data: {
          references: [
            { index: 0, ref: 'noetl://r/0' },
            { index: 2, ref: 'noetl://r/2' },
          ],
        },
      },
    })
  })

  it('are read by the arcs and sets of the loop itself', () => {
    const one = run(
      'workflow:\n- {step: each, loop: {in: 1}, tool: {kind: python, code: ""}, set: {n: "{{ loop_results[0].rows | length }}"}, next: [{step: read, when: "{{ output.results[0].rows[2] == 3 }}"}]}\n- {step: read, tool: {kind: noop, result: "{{ ctx.n }}"}}\n',
      { stored },
    )
    const command = one.id('each', 1, 'i0')
    const reference = { kind: 'result_ref', ref: 'noetl://r/0', extracted: {}, meta: { bytes: 1 } }
    const result = { status: 'success', context: { data: { _ref: 'noetl://r/0' } }, reference }
    const context = { command_id: command, result }
    one.append({
      eventType: 'call.done',
      nodeName: 'each',
      result: { status: 'COMPLETED', context },
      meta: { command_id: command },
    })
    one.completed(command)
    expect(one.settle().end?.result).toMatchObject({ context: { data: 3 } })
  })

  it('are refused to templates where they are too much for a decision, and say so when they are gone', () => {
    const one = behind(
      '{step: read, tool: {kind: noop, result: "{{ each.results | last }}"}}',
      { stored },
      40 * 1024 * 1024,
    )
    expect(one.end?.error).toContain('the results of step "each" are 80 MB, too much for a template')
    expect(values('{{ each.results | last }}', {})).toContain('the result noetl://r/0 is gone')
  })
})

describe('results of more than 1 MB', () => {
  function ended(input: string): Run {
    const one = run(loopOver('parallel', input), { workload: { items: [{ n: 0 }, { n: 1 }, { n: 2 }] } })
    for (const index of [2, 0, 1]) one.answer('each', { n: index, text: 'é'.repeat(200_000) }, 1, `i${index}`)
    return one
  }

  it('are stored, and the log says where they are', () => {
    const exit = ended('n: "{{ each.stats.total }}"').exit('each').result as JsonObject
    expect(exit).toMatchObject({
      status: 'COMPLETED',
      reference: { kind: 'result_ref', extracted: { stats: { total: 3, failed: 0 }, errors: [] } },
    })
    expect(exit).not.toHaveProperty('context')
  })

  it.each<[string, JsonValue]>([
    ['{{ each.results[1].n }}', 1],
    ['{{ each.data | length }}', 3],
    ['{{ each.data[2].n }}', 2],
    ['{{ each.result.stats.success }}', 3],
    ['{{ steps.each.data.stats.total }}', 3],
  ])('are read by a later step as %s', (template, value) => {
    const one = run(
      `workflow:
- {step: each, loop: {in: [0, 1, 2], iterator: x, spec: {mode: parallel}}, tool: {kind: python, code: ""}, next: [between]}
- {step: between, tool: {kind: python, code: ""}, next: [read]}
- {step: read, tool: {kind: python, code: "", input: {v: ${JSON.stringify(template)}}}}
`,
    )
    for (const index of [2, 0, 1]) one.answer('each', { n: index, text: 'x'.repeat(400_000) }, 1, `i${index}`)
    one.restart().answer('between')
    expect(argumentsOf(one, 'read')['v']).toEqual(value)
  })

  it('that are the result of the execution stay outside of its last event', () => {
    const one = run(
      'workflow:\n- {step: each, loop: {in: [0, 1], spec: {mode: parallel}}, tool: {kind: python, code: ""}}\n',
    )
    for (const index of [0, 1]) one.answer('each', 'x'.repeat(600_000), 1, `i${index}`)
    expect(one.end?.result).toMatchObject({ status: 'COMPLETED', reference: { extracted: { stats: { total: 2 } } } })
    expect(JSON.stringify(one.log).length).toBeLessThan(2_000_000)
  })
})

it('a thread reads a value once, whoever asks for it again', () => {
  const values = new KnownValues()
  const first = values.with([['noetl://r/1', '[{"b":1,"a":2}]']])
  expect(first.get('noetl://r/1')).toEqual([{ b: 1, a: 2 }])
  const later = values.with([])
  expect(later.has('noetl://r/1')).toBe(true)
  expect(later.get('noetl://r/1')).toBe(first.get('noetl://r/1'))
  expect(values.with([['noetl://r/1', 'not read again']]).get('noetl://r/1')).toBe(first.get('noetl://r/1'))
  expect(later.has('noetl://r/2')).toBe(false)
  const gone = values.with([['noetl://r/2', undefined]])
  expect([gone.has('noetl://r/2'), gone.get('noetl://r/2')]).toEqual([true, undefined])
})
