// Promise: templates in the defaults of the workload are rendered, once and for all, from what an execution starts with. What
// cannot be known then stays text, and so does whatever a payload brings.

import { describe, expect, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { planOf } from '../../src/domain/playbook/planOf.js'
import { HEAD } from '../playbook/playbooks.js'
import { type Logged, type RunOptions, run } from './run.js'

const STEPS = `workflow:
- {step: a, tool: {kind: noop, result: "{{ workload }}"}, next: [end]}
- {step: end, tool: {kind: noop, result: "{{ workload }}"}}
`

function workloadOf(defaults: JsonValue, options: RunOptions = {}, steps = STEPS): JsonObject {
  const one = run(`workload: ${JSON.stringify(defaults)}\n${steps}`, options)
  expect(one.end).toBeDefined()
  const { context } = (one.end as Logged).result as unknown as { context: { data: JsonObject } }
  return context.data
}

function warningsOf(defaults: JsonValue, steps = STEPS): string[] {
  const { plan, problems } = planOf(`${HEAD}workload: ${JSON.stringify(defaults)}\n${steps}`)
  expect(plan, JSON.stringify(problems)).toBeDefined()
  return problems.map(({ pointer, severity, message }) => `${severity} ${pointer}: ${message}`)
}

describe('a default reads', () => {
  it.each<[string, JsonValue]>([
    ['{{ execution_id }}', '380600494935949312'],
    ['run_{{ job.uuid }}', 'run_380600494935949312'],
    ['{{ playbook.name }} {{ path }} {{ version }}', 'test tests/test 1'],
    ['{{ workload.n + 1 }}', 6],
    ['{{ n }}', 5],
    ['{{ ctx.n }}', 5],
    ['{{ given | default("nobody") }}', 'nobody'],
    ['{{ workload.missing }}', null],
    ['{{ env.REGION }} {{ env.HOME | default("nowhere") }}', 'eu nowhere'],
  ])('%s', (template, value) => {
    expect(workloadOf({ n: 5, x: template }, { settings: { env: { REGION: 'eu' } } })['x']).toEqual(value)
  })

  it('other defaults that are templates, in whatever order they are written', () => {
    const defaults = { c: '{{ workload.b }}!', b: '{{ a }} and {{ n }}', a: '{{ workload.n }}', n: 1 }
    expect(workloadOf(defaults)).toEqual({ c: '1 and 1!', b: '1 and 1', a: 1, n: 1 })
  })

  it('at any depth, keys included, and leaves the rest as it is', () => {
    const defaults = { n: 2, deep: { list: [{ b: 1, a: '{{ n }}' }, '7'], 'key_{{ n }}': true } }
    expect(workloadOf(defaults)['deep']).toEqual({ list: [{ b: 1, a: 2 }, '7'], key_2: true })
  })

  it('what the payload brings, as it is: a payload is never a template', () => {
    const payload = { who: '{{ execution_id }}', x: '{{ path }}' }
    expect(
      workloadOf({ who: 'nobody', x: '{{ n }}', greeting: 'Hello {{ workload.who }}', n: 1 }, { workload: payload }),
    ).toEqual({ who: '{{ execution_id }}', x: '{{ path }}', greeting: 'Hello {{ execution_id }}', n: 1 })
  })

  it('a payload of any size', () => {
    const big = 'x'.repeat(300_000)
    expect(workloadOf({ size: '{{ workload.body | length }}', body: '' }, { workload: { body: big } })['size']).toBe(
      300_000,
    )
  })

  it('the time of the start, however late it is read', () => {
    const one = run(
      `workload: {at: "{{ now() }}"}\nworkflow:\n- {step: a, tool: {kind: python, code: ""}, next: [end]}\n- {step: end, tool: {kind: noop, result: "{{ workload.at }}"}}\n`,
    )
    const started = wireTimeFromMillis(one.nowMs)
    one.nowMs += 60_000
    one.answer('a', null)
    expect(one.end?.result).toMatchObject({ context: { data: started } })
  })
})

describe('a default stays as text', () => {
  it.each<[what: string, template: string]>([
    ['a secret', '{{ keychain.pg.password }}'],
    ['a token', '{{ token("api") }}'],
    ['a step', '{{ a.rows }}'],
    ['the result of a step', '{{ result.rows }}'],
    ['vars', '{{ vars.x }}'],
  ])('when it reads %s', (_what, template) => {
    expect(workloadOf({ x: template, n: 1 })['x']).toBe(template)
    expect(warningsOf({ x: template, n: 1 })).toEqual([
      'warning /workload/x: reads what is not known when an execution starts, and stays as text',
    ])
  })

  it('when it reads itself, over whatever detour', () => {
    const defaults = {
      a: '{{ workload.b }}',
      b: '{{ c }}',
      c: '{{ a }}',
      own: '{{ workload }}',
      ok: '{{ execution_id }}',
    }
    expect(workloadOf(defaults)).toEqual({ ...defaults, ok: '380600494935949312' })
    expect(warningsOf(defaults)).toEqual([
      'warning /workload/a: refers to itself (a → b → c → a) and stays as text',
      'warning /workload/b: refers to itself (a → b → c → a) and stays as text',
      'warning /workload/c: refers to itself (a → b → c → a) and stays as text',
      'warning /workload/own: refers to itself (own → own) and stays as text',
    ])
  })

  it('when it stands behind more than a hundred others', () => {
    const defaults = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, `{{ workload.k${n + 1} }}`]))
    const workload = workloadOf({ ...defaults, k5000: 1 })
    expect(workload['k0']).toBe('{{ workload.k101 }}')
    expect(workload['k4999']).toBe(1)
  })

  it('when its braces are no template', () => {
    expect(workloadOf({ x: 'docker ps --format "{{.ID}}"', n: 1 })['x']).toBe('docker ps --format "{{.ID}}"')
  })

  it('when it has none', () => {
    expect(workloadOf({ x: '007', y: '{}', z: '' })).toEqual({ x: '007', y: '{}', z: '' })
  })
})

it('fails the execution at its start, and says where, when a default cannot be rendered', () => {
  const one = run(`workload: {n: 0, x: "{{ 1 / workload.n }}"}\n${STEPS}`)
  expect(one.end).toMatchObject({ eventType: 'playbook.failed' })
  expect(one.end?.context).toMatchObject({ error: expect.stringContaining('template error at /workload/x: ') })
})
