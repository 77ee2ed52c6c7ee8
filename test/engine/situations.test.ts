// Promise: the events of every situation, in this order, one decision per line; and what they hold.

import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { type Run, run } from './run.js'

const work = 'tool: {kind: python, code: "return {}"}'
const noop = 'tool: {kind: noop}'

function workflow(...steps: string[]): string {
  return `workflow:\n${steps.map((step) => `- {${step}}`).join('\n')}\n`
}

/** The words of every decision after the start. */
function story(one: Run): string[] {
  return one.decisions.map((decision) => `${decision.key}: ${one.words(decision).join(', ')}`)
}

describe('plain steps', () => {
  const chain = workflow(`step: start, ${work}, next: [b]`, `step: b, ${work}`)

  it('start with step.enter and command.issued', () => {
    const one = run(chain)
    expect(story(one)).toEqual(['start: step.enter start, command.issued start'])
    expect([...one.commands.values()]).toEqual([
      {
        event: 1,
        key: one.id('start'),
        step: 'start',
        kind: 'python',
        pool: 'shared',
        maxAttempts: 3,
        waitsFor: 'worker',
      },
    ])
    expect(one.log.at(-1)?.meta).toMatchObject({
      command_id: one.id('start'),
      step: 'start',
      tool_kind: 'python',
      visit: 1,
      attempt: 1,
      max_attempts: 3,
      execution_id: '380600494935949312',
      catalog_id: '77',
      actionable: true,
      execution_pool: 'shared',
    })
  })

  it('hop in one decision, and the last one ends the execution', () => {
    const one = run(chain).answer('start', { n: 1 }).answer('b', { n: 2 })
    expect(story(one).slice(1)).toEqual([
      'start#1:exit: step.exit start, step.enter b, command.issued b',
      'b#1:exit: step.exit b, playbook.completed playbook',
    ])
    expect(one.end).toMatchObject({ result: { context: { data: { n: 2 } } }, context: { result_step: 'b' } })
    expect(one.exit('start').meta).toMatchObject({ visit: 1, routed: [{ step: 'b', arc: 0 }] })
  })

  it('write ctx and vars in one event before the exit', () => {
    const one = run(
      workflow(
        `step: start, ${work}, set: {ctx.total: "{{ output.n + 1 }}", bare: 1, step.seen: true}, vars: {x: "{{ result.n }}"}, next: {arcs: [{step: b, when: "{{ ctx.total == 6 and start.seen }}", set: {ctx.by: arc}}]}`,
        `step: b, ${work}`,
      ),
    ).answer('start', { n: 5 })
    expect(one.words()).toEqual(['ctx.updated', 'step.exit start', 'step.enter b', 'command.issued b'])
    expect(one.ctx).toEqual({ total: 6, bare: 1, by: 'arc' })
    expect(one.vars).toEqual({ x: 5 })
  })

  it('change one key of a map in ctx', () => {
    const one = run(
      workflow(`step: start, ${work}, set: {ctx.a.b: 1, ctx.a.c.d: 2}, next: [b]`, `step: b, ${work}`),
      {},
    )
    one.answer('start').answer('b')
    expect(one.ctx).toEqual({ a: { b: 1, c: { d: 2 } } })
  })

  it('end quietly when no arc is true', () => {
    const one = run(workflow(`step: start, ${work}, next: {arcs: [{step: b, when: "false"}]}`, `step: b, ${work}`))
    one.answer('start')
    expect(one.words()).toEqual(['step.exit start', 'step.skipped b', 'playbook.completed playbook'])
    expect(one.exit('start').meta).toMatchObject({ routed: [] })
  })

  it('pass the arguments of an arc on to its target', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: {arcs: [{step: b, args: {x: "{{ output.n }}"}}]}`,
        'step: b, input: {x: 0, y: 1}, tool: {kind: python, code: "", input: {z: "{{ input.x }}"}}',
      ),
    ).answer('start', { n: 7 })
    expect(one.issued(one.id('b'))['args']).toEqual({ x: 7, y: 1, z: 7 })
  })
})

describe('forks and joins', () => {
  const diamond = workflow(
    `step: start, ${work}, next: [a, b]`,
    `step: a, ${work}, next: [j]`,
    `step: b, ${work}, next: [j]`,
    `step: j, ${work}`,
  )

  it('enter a join once, when the last branch has come', () => {
    const one = run(diamond).answer('start')
    expect(one.words()).toEqual([
      'step.exit start',
      'step.enter a',
      'command.issued a',
      'step.enter b',
      'command.issued b',
    ])
    one.answer('a', { from: 'a' })
    expect(one.words()).toEqual(['step.exit a'])
    one.answer('b', { from: 'b' })
    expect(one.words()).toEqual(['step.exit b', 'step.enter j', 'command.issued j'])
    const entered = one.log.find((event) => event.eventType === 'step.enter' && event.nodeName === 'j')
    expect(entered?.meta).toMatchObject({ from: ['a', 'b'], visit: 1 })
    expect(one.answer('j').status).toBe('COMPLETED')
  })

  it('do not wait for a branch that ended elsewhere', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: [a, b]`,
        `step: a, ${work}, next: [j]`,
        `step: b, ${work}, next: {arcs: [{step: j, when: "false"}]}`,
        `step: j, ${work}`,
      ),
    )
    one.answer('start').answer('a').answer('b')
    expect(one.words()).toEqual(['step.exit b', 'step.enter j', 'command.issued j'])
  })

  it('enter once per page when two arcs leave the page', () => {
    const one = run(
      workflow(
        `step: fetch, ${work}, next: {spec: {mode: inclusive}, arcs: [{step: store}, {step: fetch, when: "{{ output.more }}"}]}`,
        'step: store, tool: {kind: python, code: "", input: {page: "{{ fetch.page }}", by: "{{ result.page }}"}}',
      ),
    )
    for (let page = 1; page <= 5; page++) one.answer('fetch', { page, more: page < 5 }, page)
    for (let page = 1; page <= 5; page++) {
      expect(one.issued(one.id('store', page))['args']).toEqual({ page, by: page })
      one.answer('store', {}, page)
    }
    expect(one.status).toBe('COMPLETED')
  })
})

describe('guards', () => {
  it('skip a step and follow its arcs', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: [b]`,
        `step: b, when: "{{ workload.on }}", ${work}, next: {arcs: [{step: c, when: "{{ output.status == 'skipped' }}"}]}`,
        `step: c, ${work}`,
      ),
    ).answer('start')
    expect(one.words()).toEqual(['step.exit start', 'step.skipped b', 'step.enter c', 'command.issued c'])
    expect(one.log.find(({ eventType }) => eventType === 'step.skipped')).toMatchObject({
      context: { reason: 'guard', from: ['start'] },
      meta: { visit: 1, routed: [{ step: 'c', arc: 0 }] },
    })
    expect(one.answer('c').status).toBe('COMPLETED')
  })

  it('count at the entry too', () => {
    const one = run(workflow(`step: start, when: "false", ${work}, next: [end]`, `step: end, ${work}`))
    expect(one.words()).toEqual(['step.skipped start', 'step.enter end', 'command.issued end'])
  })

  it('ask the rules of admission first', () => {
    const rules = 'spec: {policy: {admit: {rules: [{when: "{{ workload.closed }}", then: {allow: false}}]}}}'
    const one = run(workflow(`step: start, ${rules}, ${work}`), { workload: { closed: true } })
    expect(one.words()).toEqual(['step.skipped start', 'playbook.completed playbook'])
    expect(one.log.at(-2)).toMatchObject({ context: { reason: 'admit' } })
    expect(run(workflow(`step: start, ${rules}, ${work}`), { workload: { closed: false } }).entries()).toEqual([
      'start',
    ])
  })

  it('that cannot be rendered fail the step', () => {
    const one = run(workflow(`step: start, when: "{{ 1 / 0 }}", ${work}`))
    expect(one.words()).toEqual(['step.enter start', 'step.exit start', 'playbook.failed playbook'])
    expect(one.end).toMatchObject({
      status: 'FAILED',
      context: {
        error: 'step "start": template error at /workflow/0/when: division by zero near "/ 0 }}"',
        failed_steps: ['start'],
        error_kind: 'template',
      },
    })
  })
})

describe('templates of a tool that cannot be rendered', () => {
  const bad = '{{ 1 / 0 }}'
  it.each([
    ['its configuration', `tool: {kind: http, url: x, headers: {a: b, "X/Y": "${bad}"}}`, '/tool/headers/X~1Y'],
    ['its input', `tool: {kind: python, code: x, input: {good: 1, list: [1, "${bad}"]}}`, '/tool/input/list/1'],
    ['the input of its step', `input: {n: "${bad}"}, ${work}`, '/input/n'],
    ['a task', `tool: [{name: one, kind: noop}, {name: two, kind: http, url: "${bad}"}]`, '/tool/1/url'],
    ['a noop', `tool: {kind: noop, result: {deep: ["${bad}"]}}`, '/tool/result/deep/0'],
    ['a child', `tool: {kind: playbook, path: x, payload: {a: {b: "${bad}"}}}`, '/tool/payload/a/b'],
  ])('name the place: %s', (_, step, place) => {
    const { end } = run(workflow(`step: start, ${step}`))
    expect(end?.context).toMatchObject({
      error: `step "start": template error at /workflow/0${place}: division by zero near "/ 0 }}"`,
    })
  })
})

describe('native noop', () => {
  it('runs whole chains in one decision', () => {
    const one = run(workflow(`step: start, ${noop}, next: [b]`, 'step: b, tool: {kind: noop, result: {n: 1}}'))
    const each = (step: string) =>
      ['step.enter', 'command.issued', 'call.done', 'command.completed', 'step.exit'].map((type) => `${type} ${step}`)
    expect(one.words()).toEqual([...each('start'), ...each('b'), 'playbook.completed playbook'])
    expect(one.commands.size).toBe(0)
    expect(one.end?.result).toMatchObject({ context: { data: { n: 1 } } })
  })

  it('goes on in the next decision after a hundred, and says so', () => {
    const steps = Array.from(
      { length: 250 },
      (_, index) => `step: s${index}, ${noop}${index < 249 ? `, next: [s${index + 1}]` : ''}`,
    )
    const one = run(workflow(...steps))
    expect(one.decisions.map(({ key, goesOn }) => [key, goesOn])).toEqual([
      ['start', true],
      ['s100#1:enter', true],
      ['s200#1:enter', undefined],
    ])
    expect(one.entries()).toHaveLength(250)
    expect(one.status).toBe('COMPLETED')
  })

  it('is a command like any other when that is wanted', () => {
    const one = run(workflow(`step: start, ${noop}`), { settings: { nativeNoop: false } })
    expect([...one.commands.keys()]).toEqual([one.id('start')])
  })

  it('ends an execution that runs in circles', () => {
    const one = run(workflow(`step: start, ${noop}, next: [start]`), { settings: { maxVisits: 250 } })
    expect(one.end).toMatchObject({
      status: 'FAILED',
      context: { error: 'step "start" was entered more than 250 times' },
    })
  })
})

describe('child playbooks', () => {
  it('are commands that nobody can claim', () => {
    const one = run(
      workflow(
        'step: start, tool: {kind: playbook, path: "lib/{{ workload.name }}", return_result: true, args: {n: 1}}',
      ),
      { workload: { name: 'x' } },
    )
    const [command] = one.commands.values()
    expect(command).toMatchObject({ waitsFor: 'playbook', kind: 'playbook' })
    expect(one.issued(one.id('start'))).toMatchObject({
      tool_config: { kind: 'playbook', path: 'lib/x', waits: true, return_result: true },
      args: { n: 1 },
    })
    expect(one.log.at(-1)?.meta).toMatchObject({ actionable: false })
    expect(one.answer('start', { answer: 42 }).end?.result).toMatchObject({ context: { data: { answer: 42 } } })
  })
})

describe('the end', () => {
  it('gives the data of the step named end', () => {
    const one = run(workflow(`step: start, ${work}, next: [end, b]`, `step: end, ${work}`, `step: b, ${work}`))
    one.answer('start').answer('end', { last: false }).answer('b', { other: true })
    expect(one.end).toMatchObject({ result: { context: { data: { last: false } } }, meta: { result_step: 'end' } })
  })

  it('needs no step named end', () => {
    const one = run(workflow(`step: start, ${work}, next: [end]`)).answer('start')
    expect(one.words()).toEqual(['step.exit start', 'playbook.completed playbook'])
  })

  it('comes after the final step, also after a failure', () => {
    const body = `executor: {spec: {final_step: clean}}\n${workflow(`step: start, ${work}`, `step: clean, ${work}, next: [start]`)}`
    const good = run(body).answer('start', { n: 1 })
    expect(story(good).slice(1)).toEqual([
      'start#1:exit: step.exit start',
      'final: step.enter clean, command.issued clean',
    ])
    good.answer('clean', { cleaned: true })
    expect(good.words()).toEqual(['step.exit clean', 'playbook.completed playbook'])
    expect(good.end).toMatchObject({ status: 'COMPLETED', result: { context: { data: { cleaned: true } } } })
    const bad = run(body).fail('start', 'broken').answer('clean')
    expect(bad.end).toMatchObject({
      status: 'FAILED',
      context: { error: 'step "start": broken', failed_steps: ['start'] },
    })
    const worse = run(body).fail('start', 'broken').fail('clean', 'also')
    expect(worse.end).toMatchObject({
      context: { error: 'step "start": broken', failed_steps: ['start', 'clean'] },
    })
  })

  it('renders the variables of the playbook once, at the start', () => {
    const one = run(
      `vars: {greeting: "Hi {{ workload.name }}"}\n${workflow('step: start, tool: {kind: python, code: "", input: {text: "{{ vars.greeting }}"}}')}`,
      { workload: { name: 'Ann' } },
    )
    expect(one.words(one.decisions[0])).toEqual(['ctx.updated', 'step.enter start', 'command.issued start'])
    expect((one.issued(one.id('start'))['args'] as JsonObject)['text']).toBe('Hi Ann')
  })
})
