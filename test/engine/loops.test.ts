// Promise: a loop goes over its list once, in order, never more at a time than allowed, and gives results by index; a
// cursor claims frames until nothing is left; pages are visits.

import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { type Run, run } from './run.js'

function workflow(...steps: string[]): string {
  return `workflow:\n${steps.map((step) => `- {${step}}`).join('\n')}\n`
}

function args(one: Run, step: string, suffix: string, visit = 1): JsonObject {
  return one.issued(one.id(step, visit, suffix))['args'] as JsonObject
}

describe('a parallel loop', () => {
  const body = workflow(
    'step: start, loop: {in: "{{ workload.items }}", iterator: x, spec: {mode: parallel, max_in_flight: 2}}, tool: {kind: python, code: "", input: {v: "{{ x }}", at: "{{ iter.index }}", last: "{{ iter._last }}"}}, next: [b]',
    'step: b, tool: {kind: python, code: "", input: {all: "{{ start.results }}", same: "{{ start.data }}", stats: "{{ start.stats }}"}}',
  )
  const workload = { items: ['a', 'b', 'c'] }

  it('issues up to its limit, then one for each that ends', () => {
    const one = run(body, { workload })
    expect(one.words()).toEqual(['step.enter start', 'command.issued start', 'command.issued start'])
    expect(one.log.find(({ eventType }) => eventType === 'step.enter')?.context).toMatchObject({
      iterations_expected: 3,
      iterator_var: 'x',
      mode: 'parallel',
      max_in_flight: 2,
      items: ['a', 'b', 'c'],
    })
    expect(args(one, 'start', 'i1')).toMatchObject({ v: 'b', at: 1, last: false, x: 'b', _index: 1, _total: 3 })
    one.answer('start', { n: 1 }, 1, 'i1')
    expect(one.decisions.at(-1)?.key).toBe('start#1:i2')
    expect(args(one, 'start', 'i2')).toMatchObject({ v: 'c', last: true })
  })

  it('gives results by index, whichever came first', () => {
    const one = run(body, { workload })
    one.answer('start', 1, 1, 'i1').answer('start', 2, 1, 'i2').answer('start', 0, 1, 'i0')
    expect(one.words()).toEqual(['step.exit start', 'step.enter b', 'command.issued b'])
    expect(args(one, 'b', '')).toMatchObject({
      all: [0, 1, 2],
      same: [0, 1, 2],
      stats: { total: 3, success: 3, failed: 0, skipped: 0 },
    })
  })

  it('stops issuing after a failure and lets the rest end', () => {
    const one = run(body, { workload })
    one.fail('start', 'bad', 1, 'i0')
    expect(one.decisions).toHaveLength(1)
    one.answer('start', 1, 1, 'i1')
    expect(one.end).toMatchObject({ error: 'step "start": iteration 0 of step "start": bad' })
    expect(one.exit('start').result).toMatchObject({
      context: { data: { stats: { total: 3, success: 1, failed: 1, skipped: 1 }, errors: [{ index: 0 }] } },
    })
  })

  it('runs all of them in best effort, and then fails', () => {
    const one = run(body.replace('spec: {mode: parallel', 'spec: {policy: {exec: best_effort}, mode: parallel'), {
      workload,
    })
    one.fail('start', 'bad', 1, 'i0').answer('start', 1, 1, 'i1').answer('start', 2, 1, 'i2')
    expect(one.exit('start').result).toMatchObject({
      context: { data: { results: [null, 1, 2], stats: { failed: 1, skipped: 0 } } },
    })
    expect(one.status).toBe('FAILED')
  })

  it('of nothing is over at once', () => {
    const one = run(body, { workload: { items: [] } })
    expect(one.words()).toEqual(['step.enter start', 'step.exit start', 'step.enter b', 'command.issued b'])
    expect(args(one, 'b', '')).toMatchObject({ all: [], stats: { total: 0 } })
  })

  it('of something that is not a list fails', () => {
    const one = run(body, { workload: { items: null } })
    expect(one.end).toMatchObject({
      error: 'step "start": loop of step "start": {{ workload.items }} is null, not a list',
    })
  })

  it('fails one item whose templates cannot be rendered', () => {
    const one = run(
      workflow(
        'step: start, loop: {in: [1, 0], iterator: x, spec: {mode: parallel, policy: {exec: best_effort}}}, tool: {kind: python, code: "", input: {v: "{{ 1 / x }}"}}',
      ),
    )
    expect(one.words()).toEqual([
      'step.enter start',
      'command.issued start',
      'command.issued start',
      'command.failed start',
    ])
    expect([...one.commands.keys()]).toEqual([one.id('start', 1, 'i0')])
    expect(one.answer('start', 1, 1, 'i0').status).toBe('FAILED')
  })

  it('writes what its items report, in the order of the items', () => {
    const one = run(body, { workload })
    const updates = (n: number) => ({ _context_updates: { 'ctx.last': n, [`vars.v${n}`]: n }, n })
    one.answer('start', updates(1), 1, 'i1').answer('start', updates(2), 1, 'i2').answer('start', updates(0), 1, 'i0')
    expect([one.ctx, one.vars]).toEqual([{ last: 2 }, { v0: 0, v1: 1, v2: 2 }])
    expect(args(one, 'b', '')['all']).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  it('takes reports by scope, as the built-in worker writes them', () => {
    const one = run(body, { workload })
    const report = {
      ctx: { last: 1, deep: { a: 1 }, 'a.b': 2 },
      vars: { v: 1 },
      iter: { gone: 1 },
      'ctx.flat': 3,
      bare: 4,
    }
    one.answer('start', { n: 0, _context_updates: report }, 1, 'i0')
    one.answer('start', {}, 1, 'i1').answer('start', {}, 1, 'i2')
    expect(one.ctx).toEqual({ last: 1, deep: { a: 1 }, 'a.b': 2, flat: 3, bare: 4 })
    expect(one.vars).toEqual({ v: 1 })
  })

  it('runs native bodies without anybody', () => {
    const one = run(
      workflow('step: start, loop: {in: 250, spec: {mode: parallel}}, tool: {kind: noop, result: "{{ item }}"}'),
    )
    expect(one.status).toBe('COMPLETED')
    const data = one.end?.result as { context: { data: { results: JsonValue[] } } }
    expect(data.context.data.results).toEqual(Array.from({ length: 250 }, (_, index) => index))
  })

  it('goes on after a restart between any two events', () => {
    const one = run(body, { workload }).restart()
    one.answer('start', 1, 1, 'i1').restart('text')
    one.answer('start', 2, 1, 'i2').restart()
    expect(one.answer('start', 0, 1, 'i0').restart('text').answer('b').status).toBe('COMPLETED')
  })
})

describe('a sequential loop', () => {
  it('lets each item see what the one before has written', () => {
    const one = run(
      workflow(
        'step: start, loop: {in: [1, 2, 3]}, tool: {kind: python, code: "", input: {sum: "{{ ctx.sum | default(0) }}"}}, set: {ctx.done: "{{ loop.success }}"}',
      ),
    )
    for (let index = 0; index < 3; index++) {
      const { sum, item } = args(one, 'start', `i${index}`) as { sum: number; item: number }
      one.answer('start', { _context_updates: { 'ctx.sum': sum + item } }, 1, `i${index}`)
    }
    expect(one.decisions.map((decision) => one.words(decision).join(', '))).toEqual([
      'step.enter start, command.issued start',
      'ctx.updated, command.issued start',
      'ctx.updated, command.issued start',
      'ctx.updated, step.exit start, playbook.completed playbook',
    ])
    expect(one.ctx).toEqual({ sum: 6, done: 3 })
  })
})

describe('a cursor', () => {
  const body = (frame = '', policy = '') =>
    workflow(
      `step: start, loop: {iterator: row, cursor: {kind: postgres, auth: pg, claim: "select {{ __frame_max_rows }}"}, spec: {mode: cursor, ${policy}frame: {max_rows: 2${frame}}}}, tool: {kind: python, code: "", input: {id: "{{ row.id }}", at: "{{ iter.frame }}/{{ iter.row }}"}}`,
    )
  const rows = (...ids: number[]) => ({ rows: ids.map((id) => ({ id })) })

  it('claims a frame, works on its rows, claims again, ends with an empty claim', () => {
    const one = run(body())
    expect(one.issued(one.id('start', 1, 'c0'))).toMatchObject({ tool_config: { kind: 'postgres' } })
    expect(JSON.stringify(one.issued(one.id('start', 1, 'c0')))).toContain('select 2')
    one.answer('start', rows(1, 2), 1, 'c0')
    expect(args(one, 'start', 'b0.0')).toMatchObject({ id: 1, at: '0/0', row: { id: 1 } })
    one.answer('start', {}, 1, 'b0.0').answer('start', {}, 1, 'b0.1')
    expect(one.decisions.map(({ key }) => key)).toEqual(['start', 'start#1:f0r0', 'start#1:f0r1', 'start#1:f1'])
    one.answer('start', rows(), 1, 'c1')
    expect(one.exit('start')).toMatchObject({
      context: { __cursor_drained: true, frames: 1, rows: 2 },
      result: { context: { data: { frames: 1, rows: 2, failed: 0 } } },
    })
    expect(one.status).toBe('COMPLETED')
  })

  it('counts rows, also where one command works on a whole frame', () => {
    const one = run(body(', process: frame, max_attempts: 1', 'policy: {exec: best_effort}, '))
    one.answer('start', rows(1, 2), 1, 'c0').answer('start', {}, 1, 'b0.0')
    one.answer('start', rows(3, 4), 1, 'c1').fail('start', 'broken', 1, 'b1.0')
    one.answer('start', rows(), 1, 'c2')
    expect(one.exit('start').result).toMatchObject({ context: { data: { frames: 2, rows: 4, failed: 2 } } })
  })

  it('runs as many rows at a time as allowed', () => {
    const one = run(body(', row_concurrency: 2')).answer('start', rows(1, 2), 1, 'c0')
    expect(one.words()).toEqual(['command.issued start', 'command.issued start'])
  })

  it('claims again after an empty claim while bodies were under way', () => {
    const one = run(body('', 'max_in_flight: 2, '))
    expect(one.open()).toEqual([one.id('start', 1, 'c0'), one.id('start', 1, 'c1')])
    one.answer('start', rows(1), 1, 'c0').answer('start', rows(), 1, 'c1')
    expect(one.status).toBe('RUNNING')
    one.answer('start', {}, 1, 'b0.0')
    expect(one.open()).toEqual([one.id('start', 1, 'c2'), one.id('start', 1, 'c3')])
    expect(one.answer('start', rows(), 1, 'c2').status).toBe('RUNNING')
    expect(one.answer('start', rows(), 1, 'c3').status).toBe('COMPLETED')
  })

  it('tries a row again, then counts it as failed', () => {
    const fails = (policy = '') => {
      const one = run(body(', max_attempts: 2', policy)).answer('start', rows(1), 1, 'c0')
      one.fail('start', 'no', 1, 'b0.0')
      expect(one.open()).toEqual([one.id('start', 1, 'b0.0r2')])
      return one.fail('start', 'no again', 1, 'b0.0r2').answer('start', rows(), 1, 'c1')
    }
    expect(fails().end).toMatchObject({ error: 'step "start": 1 of 1 rows of step "start" failed: no again' })
    expect(fails('policy: {exec: best_effort}, ').end).toMatchObject({ result: { context: { data: { failed: 1 } } } })
  })

  it('fails with its claim', () => {
    expect(run(body()).fail('start', 'no table', 1, 'c0').end).toMatchObject({ error: 'step "start": no table' })
  })
})

describe('pages', () => {
  it('are visits of one step, led by ctx', () => {
    const one = run(
      workflow(
        'step: start, tool: {kind: noop}, next: {arcs: [{step: page, set: {ctx.offset: 0, ctx.all: []}}]}',
        `step: page, tool: {kind: http, url: "https://x/?offset={{ ctx.offset }}"}, set: {ctx.offset: "{{ ctx.offset + 2 }}", ctx.all: "{{ ctx.all + output.data.items }}"}, next: {arcs: [{step: page, when: "{{ output.data.more }}"}, {step: end}]}`,
        'step: end, tool: {kind: noop, result: "{{ ctx.all }}"}',
      ),
    )
    for (let page = 1; page <= 4; page++) {
      expect(one.issued(one.id('page', page))['tool_config']).toMatchObject({
        url: `https://x/?offset=${(page - 1) * 2}`,
      })
      one.answer('page', { status_code: 200, data: { items: [page], more: page < 4 } }, page)
    }
    expect(one.end).toMatchObject({ status: 'COMPLETED', result: { context: { data: [1, 2, 3, 4] } } })
    expect(one.state.driven?.steps.get('page')?.visits.size).toBe(1)
  })
})
