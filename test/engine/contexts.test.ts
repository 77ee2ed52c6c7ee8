// Promise: what templates can read, and where: roots and their order, `output`, data of steps in every shape, references to
// what is stored elsewhere, and what is left to the worker.

import { describe, expect, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { type Run, type RunOptions, run } from './run.js'

/** The value of a template in the arguments of a step behind `a`, which answered with this data. */
function valueBehind(data: JsonValue, template: string, options: RunOptions = {}): JsonValue | undefined {
  const body = `workflow:\n- {step: a, tool: {kind: python, code: ""}, next: [b]}\n- step: b\n  tool: {kind: python, code: "", input: {v: ${JSON.stringify(template)}}}\n`
  const one = run(body, options).answer('a', data)
  return (one.issued(one.id('b'))['args'] as JsonObject)['v']
}

describe('roots', () => {
  it.each<[string, JsonValue]>([
    ['{{ execution_id }}', '380600494935949312'],
    ['{{ job.uuid }}', '380600494935949312'],
    ['{{ catalog_id }}', '77'],
    ['{{ path }}', 'tests/test'],
    ['{{ playbook.name }}/{{ playbook.version }}', 'test/1'],
    ['{{ workload.n }}', 5],
    ['{{ n }}', 5],
    ['{{ ctx.n }}', 5],
    ['{{ env.HOME | default("none") }}', 'none'],
    ['{{ nobody.knows.it }}', null],
    ['{{ result.x }}', 1],
    ['{{ event.name }}', 'step.done'],
    ['{{ output.x }}', 1],
  ])('%s', (template, value) => {
    expect(valueBehind({ x: 1 }, template, { workload: { n: 5 } })).toEqual(value)
  })

  it('mean the step before a key of the workload', () => {
    expect(valueBehind({ x: 1 }, '{{ a.x }}', { workload: { a: { x: 'workload' } } })).toBe(1)
    expect(valueBehind({ x: 1 }, '{{ workload.a.x }}', { workload: { a: { x: 'workload' } } })).toBe('workload')
  })

  it('take the environment only where it is allowed', () => {
    expect(valueBehind({}, '{{ env.REGION }}', { settings: { env: { REGION: 'eu' } } })).toBe('eu')
  })

  it('are the same time in a decision and its events', () => {
    const one = run('workflow:\n- {step: a, tool: {kind: noop, result: "{{ now() }}"}}\n')
    expect(one.end?.result).toMatchObject({ context: { data: wireTimeFromMillis(one.nowMs) } })
  })
})

it('keeps the order in which the playbook writes its workload', () => {
  const one = run(
    'workload: {z: 1, regions: {zebra: {b: 1, a: 2}, ant: 2}}\nworkflow:\n- {step: a, loop: {in: "{{ workload.regions }}"}, tool: {kind: noop, result: "{{ item.key }}"}, next: [end]}\n- {step: end, tool: {kind: noop, result: {order: "{{ a.results }}", text: "{{ workload.regions | tojson }}"}}}\n',
    { workload: { regions: { ant: 2, extra: 3, zebra: { a: 2, b: 1 } } } },
  )
  expect(one.end?.result).toMatchObject({
    context: { data: { order: ['zebra', 'ant', 'extra'], text: '{"zebra":{"b":1,"a":2},"ant":2,"extra":3}' } },
  })
})

describe('data of a step', () => {
  it.each<[JsonValue, string, JsonValue]>([
    // Status and error are there for who asks, and no part of the whole.
    [{ x: 1 }, '{{ a }}', { x: 1 }],
    [{ x: 1 }, '{{ a | length }} {{ a.status }} {{ a.data.x }} {{ steps.a.error is none }}', '1 ok 1 true'],
    // Playbooks route by `is defined`: only a failure has an error.
    [{ x: 1 }, '{{ a.error is defined }}', false],
    [{ error: 'own' }, '{{ a.error }}', 'own'],
    [{ x: 1 }, '{{ a.data.x }}{{ a.result.x }}{{ a.context.x }}{{ steps.a.data.x }}', 1111],
    [{ x: 1, context: { x: 2 } }, '{{ a.context.x }}', 2],
    [[1, 2], '{{ a.context[1] }}', 2],
    [{ status: 'own' }, '{{ a.status }}', 'own'],
    // The status of an HTTP answer can be read beside its body and from it, and is no part of the body.
    [{ status_code: 500, headers: {}, data: { id: 1 } }, '{{ a.data.status_code | default(0) }}', 500],
    [{ status_code: 200, headers: {}, data: { id: 1 } }, '{{ a.data | tojson }} {{ a.data | length }}', '{"id":1} 1'],
    [{ status_code: 200, headers: {}, data: { id: 1 } }, '{{ a.data }}', { id: 1 }],
    [{ status_code: 200, headers: {}, data: { status_code: 7 } }, '{{ a.data.status_code }}', 7],
    [{ status_code: 200, headers: {}, data: [1] }, '{{ a.data }}', [1]],
    [[1, 2], '{{ a | length }}', 2],
    [[1, 2], '{{ a.data }}', [1, 2]],
    [[1, 2], '{{ a.result[1] }}', 2],
    ['text', '{{ a }}', 'text'],
    [null, '{{ a is none }}', true],
    [{ data: [3] }, '{{ a.data[0] }}', 3],
    [{}, '{{ steps.a.status }} {{ steps.a.visit }} {{ steps.b.status }}', 'ok 1 '],
  ])('%j as %s', (data, template, value) => {
    expect(valueBehind(data, template)).toEqual(value)
  })

  it('is seen by its own arcs as output', () => {
    const guard = (template: string, data: JsonValue) => {
      const one = run(
        `workflow:\n- step: a\n  tool: {kind: http, url: x}\n  set: {ctx.v: ${JSON.stringify(template)}}\n`,
      ).answer('a', data)
      return one.ctx['v']
    }
    const answer = { status_code: 201, headers: { h: 1 }, data: { id: 7 }, body: { id: 7 } }
    expect(guard('{{ output.data.id }}', answer)).toBe(7)
    expect(guard('{{ output.http.status }}', answer)).toBe(201)
    expect(guard('{{ output.data.status_code }}', answer)).toBe(201)
    expect(guard('{{ output.data }}', answer)).toEqual({ id: 7 })
    expect(guard('{{ output.status }}', answer)).toBe('ok')
    expect(guard('{{ output.meta.visit }}', answer)).toBe(1)
    expect(guard('{{ output.data }}', [1])).toEqual([1])
  })
})

it.each([
  ['{kind: noop, result: "{{ nothing }}"}', null],
  ['{kind: noop, result: ~}', null],
  ['{kind: noop}', { status: 'ok', message: 'noop' }],
])('the data of %s', (tool, data) => {
  const one = run(`workflow:\n- {step: a, tool: ${tool}}\n`)
  expect(one.end?.result).toMatchObject({ context: { data } })
})

it('takes what a worker reports beside data that is no map', () => {
  const one = run(
    'workflow:\n- {step: a, tool: {kind: python, code: "", set: {ctx.n: "{{ output.data | length }}"}}, next: [b]}\n- {step: b, tool: {kind: noop, result: "{{ a | length }} {{ a[0] }} {{ ctx.n }}"}}\n',
  )
  one.done(one.id('a'), [7, 8], {}, { _context_updates: { ctx: { n: 2 } } })
  expect(one.settle().end?.result).toMatchObject({ context: { data: '2 7 2' } })
})

it('keeps what else is in a map of which a worker sets a part', () => {
  const one = run(
    `workflow:
- {step: s, tool: {kind: noop}, set: {ctx.a: {z: 0}, vars.b: {y: 1}}, next: [a]}
- {step: a, tool: {kind: python, code: "", set: {ctx.a.p: 1, vars.b.q: 2}}, next: [b]}
- {step: b, tool: {kind: noop, result: "{{ ctx.a | tojson }} {{ vars.b | tojson }}"}}
`,
  )
  one.done(one.id('a'), {}, {}, { _context_updates: { 'ctx.a.p': 1, 'vars.b.q': 2 } })
  expect(one.settle().end?.result).toMatchObject({ context: { data: '{"p":1,"z":0} {"q":2,"y":1}' } })
})

it.each<[string, JsonValue]>([
  ['[1, 2]', [1, 2]],
  ['text', 'done'],
  ['a number', 7],
  ['nothing', null],
])('a step whose data is %s has a status all the same', (_, data) => {
  expect(valueBehind(data, '{{ a.status }} {{ a.error is defined }}')).toBe('ok false')
  const one = run(
    `workflow:
- {step: a, tool: {kind: python, code: ""}, next: [{step: h, when: "{{ a.status == 'error' }}"}]}
- {step: h, tool: {kind: noop, result: "{{ a.error.message }}"}}
`,
  )
  one.done(one.id('a'), data, {}, { status: 'error', error: { kind: 'exception', message: 'why' } })
  expect(one.settle().end).toMatchObject({ eventType: 'playbook.completed', result: { context: { data: 'why' } } })
})

it('values are the same in the decision that makes them and in every later one', () => {
  const read = `["{{ a | keys }}", "{{ ctx.m | keys }}", "{{ a | tojson }}", "{{ a.big is float }}", "{{ a.none }}"]`
  const one = run(
    `workflow:
- {step: a, tool: {kind: noop, result: {zz: 1, b: 2, aa: {y: 1, x: 2}, big: "{{ 1e22 }}", small: "{{ 2.5e-9 }}", none: "{{ -0.0 }}"}}, set: {ctx.m: {zz: 1, b: 2}}, next: [b]}
- {step: b, tool: {kind: noop, result: ${read}}, next: [c]}
- {step: c, tool: {kind: python, code: ""}, next: [d]}
- {step: d, tool: {kind: noop, result: ${read}}, next: [e]}
- {step: e, tool: {kind: noop, result: ["{{ b }}", "{{ d }}"]}}
`,
  )
  const result = one.answer('c', 1).settle().end?.result as { context: { data: JsonValue[] } }
  const { data } = result.context
  expect(data[0]).toEqual(data[1])
  expect((data[0] as JsonValue[]).slice(0, 2)).toEqual([
    ['aa', 'b', 'big', 'none', 'small', 'zz'],
    ['b', 'zz'],
  ])
})

describe('a part of the data with a name of its own', () => {
  const data = { status_code: 200, headers: {}, data: { items: [{ id: 4 }], page: { next: 2 } }, own: 1 }

  it.each<[string, string, JsonValue]>([
    ['output_select: [data.page.next]', '{{ a.next }} {{ output.next }}', '2 2'],
    ['output_select: [{path: data.items, as: found}]', '{{ a.found | length }}', 1],
    ['output_select: data.page', '{{ a.page.next }}', 2],
    ['output: {select: [{path: "data.items[0].id", as: id}]}', '{{ a.id }}', 4],
    ['output_select: [{path: data.page.next, as: own}]', '{{ a.own }}', 1],
    ['output_select: [{path: __proto__.polluted, as: x}]', '{{ a.x }}', null],
  ])('%s: %s', (selects, template, wanted) => {
    const body = `workflow:\n- {step: a, tool: {kind: http, url: "http://x", ${selects}}, next: [b]}\n- step: b\n  tool: {kind: python, code: "", input: {v: ${JSON.stringify(template)}, w: "{{ a }}"}}\n`
    const one = run(body).answer('a', data)
    expect(one.issued(one.id('b'))['args']).toEqual({ v: wanted, w: data })
  })

  it.each<[string, string, JsonValue]>([
    ['output_select: [deep.x]', '{{ a.x }}', 5],
    ['output_select: [data.deep.x]', '{{ a.x }}', 5],
    ['output_select: [{path: data.own, as: o}]', '{{ a.o }}', 7],
    ['output: {select: [{path: deep.x, as: first}]}', '{{ a.first }} {{ output.first }}', '5 5'],
    ['output_select: [{path: deep.x, as: t}]', '{{ a.t.deep.x }}', 5],
  ])('is chosen by a task of a pipeline from its own data: %s', (selects, template, wanted) => {
    const tasks = `[{name: t, kind: python, code: "", ${selects}}, {name: u, kind: python, code: ""}]`
    const body = `workflow:\n- {step: a, tool: ${tasks}, next: [b]}\n- step: b\n  tool: {kind: python, code: "", input: {v: ${JSON.stringify(template)}}}\n`
    const one = run(body).answer('a', { t: { deep: { x: 5 }, data: { own: 7 } }, u: { deep: { x: 6 } } })
    expect(one.issued(one.id('b'))['args']).toEqual({ v: wanted })
  })

  it('is chosen by a task of the workbook', () => {
    const body =
      'workbook: [{name: w, tool: {kind: python, code: "", output_select: [deep.x]}}]\nworkflow:\n- {step: a, tool: {kind: workbook, name: w}, next: [b]}\n- {step: b, tool: {kind: noop, result: "{{ a.x }}"}}\n'
    expect(run(body).answer('a', { deep: { x: 5 } }).end?.result).toMatchObject({ context: { data: 5 } })
  })

  it('is chosen for a step as a whole, pipelines included', () => {
    const body =
      'workflow:\n- {step: a, tool: [{name: t, kind: python, code: ""}], output: {select: [{path: t.deep.x, as: x}]}, next: [{step: b, when: "{{ output.x == 5 }}"}]}\n- {step: b, tool: {kind: noop, result: "{{ a.x }}"}}\n'
    expect(run(body).answer('a', { t: { deep: { x: 5 } } }).end?.result).toMatchObject({ context: { data: 5 } })
  })
})

describe('the input of a step that uses a task of the workbook', () => {
  it.each<[string, string, JsonValue]>([
    ['over the defaults', 'input: {a: 2}', { a: 2, b: 1, c: 1 }],
    ['over args of the same step', 'args: {a: 3, c: 3}, input: {a: 2}', { a: 2, b: 1, c: 3 }],
    ['under what the reference says', 'input: {a: 2, b: 2, r: 2}', { a: 2, b: 2, c: 1, r: 9 }],
  ])('lies %s', (_where, input, wanted) => {
    const own = input.includes('r: 2') ? ', input: {r: 9}' : ''
    const body = `workbook: [{name: w, input: {a: 1, c: 1}, tool: {kind: python, code: "", input: {b: 1}}}]\nworkflow:\n- {step: start, ${input}, tool: {kind: workbook, name: w${own}}}\n`
    const one = run(body)
    expect(one.issued(one.id('start'))['args']).toEqual(wanted)
  })

  it('reaches a task with rules of its own, and a playbook', () => {
    const policy = 'spec: {policy: {rules: [{else: {do: continue}}]}}'
    const body = `workbook: [{name: w, tool: {kind: python, code: "", input: {a: 1, b: 1}, ${policy}}}]\nworkflow:\n- {step: start, input: {a: "{{ 1 + 1 }}"}, tool: {kind: workbook, name: w}}\n`
    const one = run(body)
    expect(one.issued(one.id('start'))['tool_config']).toMatchObject({ tasks: [{ input: { a: 2, b: 1 } }] })
    const child =
      'workbook: [{name: w, tool: {kind: playbook, path: x, input: {a: 1, b: 1}}}]\nworkflow:\n- {step: start, input: {a: 2}, tool: {kind: workbook, name: w}}\n'
    const other = run(child)
    expect(other.issued(other.id('start'))['args']).toEqual({ a: 2, b: 1 })
  })

  it('stays under the arguments of a tool that stands in the step', () => {
    const one = run('workflow:\n- {step: start, input: {a: 2, b: 2}, tool: {kind: python, code: "", input: {a: 1}}}\n')
    expect(one.issued(one.id('start'))['args']).toEqual({ a: 1, b: 2 })
  })
})

describe('what is stored elsewhere', () => {
  const reference = {
    kind: 'result_ref',
    ref: 'noetl://r/1',
    store: 'db',
    meta: { bytes: 5_000_000 },
    extracted: { row_count: 3 },
  }
  const stored = new Map<string, JsonValue>([['noetl://r/1', { rows: [{ id: 9 }], row_count: 3 }]])

  type LargeOptions = RunOptions & { reference?: JsonObject }

  function behindLarge(template: string, options: LargeOptions): Run {
    const body = `workflow:\n- {step: a, tool: {kind: python, code: ""}, next: [b]}\n- step: b\n  tool: {kind: python, code: "", input: {v: ${JSON.stringify(template)}}}\n`
    return answeredLarge(body, options)
  }

  function answeredLarge(body: string, options: LargeOptions): Run {
    const one = run(body, options)
    const id = one.id('a')
    const context = {
      command_id: id,
      result: {
        status: 'success',
        context: { data: { _ref: 'noetl://r/1' } },
        reference: options.reference ?? reference,
      },
    }
    one.append({ eventType: 'call.done', nodeName: 'a', result: { status: 'COMPLETED', context } })
    one.completed(id)
    return one.settle()
  }

  function large(template: string, options: LargeOptions = {}): JsonValue | undefined {
    const one = behindLarge(template, options)
    if (one.end !== undefined) return one.end.error
    return (one.issued(one.id('b'))['args'] as JsonObject)['v']
  }

  function argsBehind(body: string, options: LargeOptions): JsonValue | undefined {
    const one = answeredLarge(body, options)
    return one.issued(one.id('b'))['args']
  }

  it('is answered from its small parts where they are enough', () => {
    expect(large('{{ a.row_count }}')).toBe(3)
    expect(large('{{ a._ref }}')).toBe('noetl://r/1')
    expect(large('{{ a.reference.ref }}')).toBe('noetl://r/1')
    expect(large('{{ a.error is defined }}')).toBe(false)
    expect(large('{{ a.context.row_count }}')).toBe(3)
    expect(large('{{ a.data.row_count + 1 }}')).toBe(4)
  })

  it('is asked for where they are not', () => {
    expect(large('{{ a.rows[0].id }}', { stored })).toBe(9)
    expect(large('{{ result.rows | length }}', { stored })).toBe(1)
  })

  it('stays a reference where the whole is passed on', () => {
    expect(large('{{ a }}')).toMatchObject({ __ref__: 'noetl://r/1', _bytes: 5_000_000 })
    expect(large('{{ a.data }}')).toMatchObject({ __ref__: 'noetl://r/1' })
    expect(behindLarge('{{ a }}', {}).log.at(-1)?.meta).toMatchObject({ references: ['/args/v'] })
    expect(behindLarge('{{ a.row_count }}', {}).log.at(-1)?.meta).not.toHaveProperty('references')
    expect(behindLarge('{{ a.rows }}', { stored }).log.at(-1)?.meta).not.toHaveProperty('references')
  })

  it('is the same data as any other, once it was fetched', () => {
    expect(large('{{ a | keys }}', { stored })).toEqual(['rows', 'row_count'])
    expect(large('{{ a | length }} {{ result | length }} {{ a.status }} {{ a.error is defined }}', { stored })).toBe(
      '2 2 ok false',
    )
    expect(large('{{ [a] }}', { stored })).toEqual([{ rows: [{ id: 9 }], row_count: 3 }])
    expect(large('{{ a._ref }} {{ a.rows[0].id }}', { stored })).toBe('noetl://r/1 9')
    expect(large('{{ result.status }} {{ a.data.status }}', { stored })).toBe(' ')
  })

  it('has the status of an HTTP answer where inline data has it', () => {
    const answer = new Map([['noetl://r/1', { status_code: 200, headers: {}, data: { rows: [1], url: 'own' } }]])
    expect(large('{{ a.data.status_code }} {{ a.data.rows[0] }}', { stored: answer })).toBe('200 1')
  })

  it('is not taken for small parts that it has beside larger ones of that name', () => {
    const own = new Map([['noetl://r/1', { meta: { total: 7 }, error: 'own', data: { url: 'own' }, url: 'outer' }]])
    const leftOut = { ...reference, extracted: { url: 'outer' }, left_out: ['meta', 'error', 'data'] }
    const options = { stored: own, reference: leftOut }
    expect(large('{{ a.meta.total }}', options)).toBe(7)
    expect(large('{{ a.error }}', options)).toBe('own')
    expect(large('{{ a.data.url }} {{ a.url }}', options)).toBe('own outer')
  })

  it('has what the step wrote into its data itself', () => {
    const body =
      'workflow:\n- {step: a, tool: {kind: python, code: ""}, set: {step.seen: "{{ output.rows | length }}"}, next: [b]}\n- step: b\n  tool: {kind: python, code: "", input: {v: "{{ a.seen }}", w: "{{ a }}", x: "{{ a.rows[0].id }}"}}\n'
    const args = argsBehind(body, { stored })
    expect(args).toEqual({ v: 1, w: { rows: [{ id: 9 }], row_count: 3, seen: 1 }, x: 9 })
  })

  it('is the result of the execution together with what its step wrote', () => {
    const last = (seen: string) =>
      `workflow:\n- {step: a, tool: {kind: python, code: ""}, set: {step.seen: ${JSON.stringify(seen)}}}\n`
    expect(answeredLarge(last('{{ output.row_count }}'), { stored }).end?.result).toEqual({
      status: 'COMPLETED',
      context: { data: { rows: [{ id: 9 }], row_count: 3, seen: 3 } },
    })
    // One that is gone is still named.
    expect(answeredLarge(last('yes'), {}).end?.result).toMatchObject({
      status: 'COMPLETED',
      reference: { ref: 'noetl://r/1' },
    })
  })

  it('has the parts that were given names of their own', () => {
    const args = (selects: string, options: LargeOptions = { stored }) =>
      argsBehind(
        `workflow:\n- {step: a, tool: {kind: python, code: "", output_select: ${selects}}, next: [b]}\n- step: b\n  tool: {kind: python, code: "", input: {v: "{{ a.first }}", w: "{{ a | keys }}"}}\n`,
        options,
      )
    expect(args('[{path: "$.rows[0].id", as: first}]')).toEqual({ v: 9, w: ['rows', 'row_count'] })
    expect(args('[{path: data.rows.0.id, as: first}]')).toEqual({ v: 9, w: ['rows', 'row_count'] })
    expect(args('[{path: rows.7.id, as: first}]')).toEqual({ v: null, w: ['rows', 'row_count'] })
  })

  it('fails the step that needs it when it is gone', () => {
    expect(large('{{ a.rows }}')).toBe('step "b": the result noetl://r/1 is gone: it expired or was damaged')
  })
})

describe('what is left to the worker', () => {
  it('is listed by pointer, with just the values it reads', () => {
    const one = run(
      'workflow:\n- step: a\n  tool:\n    kind: http\n    url: "https://{{ workload.host }}/{{ keychain.api.path }}"\n    headers: {h: "{{ workload.host }}"}\n    input: {t: "{{ token(\'x\') }}"}\n',
      { workload: { host: 'h', big: 'x' } },
    )
    const context = one.issued(one.id('a'))
    expect(context).toMatchObject({
      tool_config: { kind: 'http', url: 'https://{{ workload.host }}/{{ keychain.api.path }}', headers: { h: 'h' } },
      render_context: { workload: { host: 'h' }, step: 'a', execution_id: '380600494935949312' },
    })
    expect((context['render_context'] as JsonObject)['workload']).toEqual({ host: 'h' })
    expect(one.log.at(-1)?.meta).toMatchObject({ deferred: ['/tool_config/url', '/args/t'] })
  })

  it('comes with the keychain it opens, what that reads, and the names of steps among its values', () => {
    const keychain = 'keychain:\n- {name: api, kind: oauth2, token_url: "{{ workload.host }}/token", credential: c}\n'
    const steps = 'workflow:\n- {step: a, tool: {kind: python, code: ""}, next: [b]}\n'
    const task = '{name: t, kind: http, url: "https://x/{{ a.n }}/{{ keychain.api.path }}"}'
    const one = run(`${keychain}${steps}- {step: b, tool: [${task}]}\n`, { workload: { host: 'h' } }).answer('a', {
      n: 1,
    })
    expect(one.issued(one.id('b'))).toMatchObject({
      keychain: [{ name: 'api', kind: 'oauth2', token_url: '{{ workload.host }}/token', credential: 'c' }],
      render_context: { workload: { host: 'h' }, a: { n: 1 } },
    })
    expect(one.log.at(-1)?.meta).toMatchObject({ step_names: ['a'] })
    expect(one.issued(one.id('a'))).not.toHaveProperty('keychain')
  })

  it('is never what a payload brought along', () => {
    const one = run('workflow:\n- {step: a, tool: {kind: http, url: "{{ workload.u }}"}}\n', {
      workload: { u: '{{ keychain.pg.password }}' },
    })
    expect(one.issued(one.id('a'))['tool_config']).toMatchObject({ url: '{{ keychain.pg.password }}' })
    expect(one.log.at(-1)?.meta).not.toHaveProperty('deferred')
  })
})
