// Every form in which real playbooks are written becomes the same plan.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import type { Plan, StepPlan } from '../../src/domain/playbook/plan.js'
import { PlainContext } from '../../src/domain/template/plainContext.js'
import { planned } from './playbooks.js'

function planFor(body: string): Plan {
  const { plan, problems } = planned(body)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return plan as Plan
}

const first = (body: string): StepPlan => planFor(body).steps[0] as StepPlan
const context = (roots: JsonObject): PlainContext => new PlainContext(roots, new Set(), 0)
const END = '{step: b, tool: {kind: noop}}, {step: c, tool: {kind: noop}}'
const withNext = (next: string, spec = '{}'): StepPlan =>
  first(`workflow: [{step: a, tool: {kind: noop}, spec: ${spec}, next: ${next}}, ${END}]`)

describe('where a step leads', () => {
  it.each([
    ['b', 'exclusive', [1]],
    ['[b, c]', 'inclusive', [1, 2]],
    ['[{step: b, when: x}, {step: c}]', 'exclusive', [1, 2]],
    ['{arcs: [{step: b, when: x}, {step: c}]}', 'exclusive', [1, 2]],
    ['{spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}', 'inclusive', [1, 2]],
    ['end', 'exclusive', [undefined]],
    ['null', 'exclusive', []],
  ])('next: %s', (next, mode, targets) => {
    const plan = withNext(next).next
    expect(plan.mode).toBe(mode)
    expect(plan.arcs.map(({ target }) => target)).toEqual(targets)
  })

  it('is decided by the mode of the router before that of the step', () => {
    expect(withNext('[{step: b, when: x}, {step: c}]', '{next_mode: inclusive}').next.mode).toBe('inclusive')
    expect(withNext('{spec: {mode: exclusive}, arcs: []}', '{next_mode: inclusive}').next.mode).toBe('exclusive')
    expect(withNext('{arcs: []}', '{next_mode: inclusive}').next.mode).toBe('inclusive')
  })

  it('takes values along', () => {
    const [arc] = withNext('[{step: b, set: {ctx.n: "{{ output.n }}", m: 1}, args: {k: "{{ output.k }}"}}]').next.arcs
    expect(arc?.assignments.map(({ scope, path }) => [scope, path])).toEqual([
      ['ctx', ['n']],
      ['ctx', ['m']],
    ])
    expect(arc?.args?.value(context({ output: { k: 2 } }))).toEqual({ k: 2 })
  })

  it.each([
    ["event.name == 'call.error'", true],
    ['error', true],
    ["output.status == 'error'", true],
    ['output.error.kind', true],
    ['output', true],
    ['output[workload.key]', true],
    ['result.status', true],
    ['a.error', true],
    ['a', true],
    ["steps.a.status == 'x'", true],
    ["steps['a'].status", true],
    ['output.data.status', false],
    ['b.status', false],
    ['workload.error', false],
    ['"true"', false],
  ])('knows whether the guard %s asks about failure', (when, reads) => {
    expect(withNext(`[{step: b, when: ${JSON.stringify(when)}}]`).next.arcs[0]?.readsFailure).toBe(reads)
  })
})

describe('a tool', () => {
  it('alone keeps its arguments apart from its configuration', () => {
    const step = first(
      "workflow: [{step: a, input: {x: 1, y: '{{ workload.y }}'}, tool: {kind: python, code: 'return {{ workload.y }}', args: {z: 0, w: 1}, input: {z: '{{ input.y }}'}}}]",
    )
    const roots = context({ workload: { y: 7 }, input: { y: 8 } })
    expect(step.tool).toMatchObject({
      kind: 'python',
      action: 'python',
      native: undefined,
      tasks: [],
      kinds: ['python'],
    })
    expect(step.tool.config.value(roots)).toEqual({ kind: 'python', code: 'return 7' })
    expect(step.tool.args?.value(roots)).toEqual({ z: 8, w: 1 })
    expect(step.input?.value(roots)).toEqual({ x: 1, y: 7 })
  })

  it('with a policy is a pipeline of one whose data is not wrapped', () => {
    const { tool } = first(
      'workflow: [{step: a, tool: {kind: http, url: u, input: {q: 1}, spec: {timeout: {read: 3}, policy: {rules: [{else: {do: continue, set: {ctx.n: 1}}}]}}}}]',
    )
    expect(tool).toMatchObject({ kind: 'http', action: 'task_sequence', tasks: [] })
    expect(tool.config.value(context({}))).toEqual({
      kind: 'task_sequence',
      unwrapped: true,
      tasks: [
        {
          name: 'task_1',
          kind: 'http',
          url: 'u',
          spec: { timeout: { read: 3 }, policy: { rules: [{ else: { do: 'continue', set: { 'ctx.n': 1 } } }] } },
          input: { q: 1 },
        },
      ],
    })
  })

  it.each([
    ['[{name: x, kind: noop}, {kind: noop, message: m}]'],
    ['[{x: {kind: noop}}, {task_2: {kind: noop, message: m}}]'],
    ['{kind: task_sequence, tasks: [{name: x, kind: noop}, {kind: noop, message: m}]}'],
  ])('may be a list of tasks: %s', (text) => {
    const { tool } = first(`workflow: [{step: a, tool: ${text}}]`)
    expect(tool).toMatchObject({ kind: 'task_sequence', action: 'task_sequence', native: undefined, kinds: ['noop'] })
    expect(tool.tasks.map(({ label }) => label)).toEqual(['x', 'task_2'])
    expect(tool.config.value(context({}))).toEqual({
      kind: 'task_sequence',
      tasks: [
        { name: 'x', kind: 'noop' },
        { name: 'task_2', kind: 'noop', message: 'm' },
      ],
    })
  })

  it('of the workbook is put in place, its arguments under those of the step', () => {
    const plan = planFor(
      "workbook: [{name: flag, input: {a: 1, b: 1}, tool: {kind: python, code: c, input: {b: 2, t: null}}}, {name: both, tool: {kind: workbook, name: flag, input: {z: 1}}}]\nworkflow: [{step: a, tool: {kind: workbook, name: both, input: {t: '{{ workload.t }}'}}}]",
    )
    const { tool } = plan.steps[0] as StepPlan
    expect(tool).toMatchObject({ kind: 'python', kinds: ['python'] })
    expect(tool.args?.value(context({ workload: { t: 30 } }))).toEqual({ a: 1, b: 2, t: 30, z: 1 })
  })

  it('of the engine itself needs no worker, unless there is something for one to do', () => {
    expect(first('workflow: [{step: a, tool: {kind: noop, message: hi}}]').tool.native?.type).toBe('noop')
    expect(first('workflow: [{step: a, tool: {kind: noop, set: {ctx.x: 1}}}]').tool.native).toBeUndefined()
    expect(first("workflow: [{step: a, tool: {kind: noop, message: '{{ keychain.k }}'}}]").tool.native).toBeUndefined()
    expect(
      first("workflow: [{step: a, input: {k: '{{ keychain.k }}'}, tool: {kind: noop}}]").tool.native,
    ).toBeUndefined()
    expect(first('workflow: [{step: a, tool: {kind: playbook, path: p, retry: 2}}]').tool).toMatchObject({
      native: undefined,
      action: 'task_sequence',
    })
  })

  it('may be another playbook', () => {
    const { tool } = first(
      "workflow: [{step: a, tool: {kind: playbook, path: 'x/{{ workload.p }}', args: {a: 1, b: 1, c: 1}, input: {b: 2, c: 2}, payload: {c: 3}, return_step: end, timeout: 5m}}]",
    )
    const native = tool.native
    if (native?.type !== 'playbook') throw new Error('not native')
    const roots = context({ workload: { p: 'y' } })
    expect(native.child.path?.value(roots)).toBe('x/y')
    expect(native.child.payload?.value(roots)).toEqual({ a: 1, b: 2, c: 3 })
    expect(native.child).toMatchObject({ waits: true, returnResult: false, timeoutSeconds: 300, catalogId: undefined })
  })

  it.each([
    ['', 'path: p', false],
    ['', 'path: p, return_result: true', true],
    ['', 'path: p, wait: true', true],
    ['executor: {profile: local}\n', 'path: p', true],
    ['executor: {profile: local}\n', 'path: p, wait: false', false],
  ])('waits for another playbook when asked to: %s%s', (head, fields, waits) => {
    const { native } = first(`${head}workflow: [{step: a, tool: {kind: playbook, ${fields}}}]`).tool
    expect(native).toMatchObject({ child: { waits } })
  })

  it('that lists playbooks runs them one after the other', () => {
    const { tool } = first(
      'workflow: [{step: a, tool: {kind: playbooks, playbooks: [p, {path: q, return_step: end}]}}]',
    )
    expect(tool.tasks.map(({ kind }) => kind)).toEqual(['playbook', 'playbook'])
  })

  it('keeps text as text where its kind says so', () => {
    const { tool } = first(
      "workflow: [{step: a, tool: {kind: http, url: '{{ workload.n }}', headers: {X: '{{ workload.n }}'}, json: {n: '{{ workload.n }}'}}}]",
    )
    expect(tool.config.value(context({ workload: { n: 5 } }))).toMatchObject({
      url: '5',
      headers: { X: '5' },
      json: { n: 5 },
    })
  })

  it('of a container has a command line, not arguments', () => {
    const { tool } = first(
      "workflow: [{step: a, tool: {kind: container, image: i, args: ['{{ 1 + 1 }}'], env: [{name: N, value: '{{ 1 }}'}], input: {x: 1}}}]",
    )
    expect(tool.config.value(context({}))).toEqual({
      kind: 'container',
      image: 'i',
      args: ['2'],
      env: [{ name: 'N', value: '1' }],
    })
    expect(tool.args?.value(context({}))).toEqual({ x: 1 })
  })

  it('whose code looks at ctx is given everything, unless it has one of its own', () => {
    const wants = (code: string): boolean =>
      first(`workflow: [{step: a, tool: {kind: python, code: ${JSON.stringify(code)}}}]`).tool.wantsWholeContext
    expect(wants("x = ctx['n']")).toBe(true)
    expect(wants("x = ctx.get('n') == 1")).toBe(true)
    expect(wants("ctx = e.get('c')\nx = ctx.get('n')")).toBe(false)
    expect(wants("x = my_ctx['n']")).toBe(false)
  })

  it('whose code looks at everything is given everything', () => {
    expect(
      first("workflow: [{step: a, tool: {kind: python, code: 'x = context.get(1)'}}]").tool.wantsWholeContext,
    ).toBe(true)
    expect(first("workflow: [{step: a, tool: {kind: python, code: 'x = contextual'}}]").tool.wantsWholeContext).toBe(
      false,
    )
  })
})

describe('what the worker renders', () => {
  const deferred = (text: string): { config: string[]; args: string[]; reads: string[] } => {
    const { tool } = first(`workflow: [{step: a, tool: ${text}}]`)
    return {
      config: tool.config.deferred.map(({ pointer }) => pointer),
      args: (tool.args?.deferred ?? []).map(({ pointer }) => pointer),
      reads: tool.workerReads.map(({ root, keys }) => [root, ...keys].join('.')).sort(),
    }
  }

  it('is what needs secrets', () => {
    expect(
      deferred(
        "{kind: http, url: '{{ workload.u }}', headers: {A: 'Bearer {{ token(workload.k) }}'}, input: {p: '{{ keychain.pg.password }}'}}",
      ),
    ).toEqual({ config: ['/headers/A'], args: ['/p'], reads: ['workload.k'] })
  })

  it('is what the tasks of a pipeline give to each other', () => {
    expect(
      deferred(
        "[{name: get, kind: http, url: '{{ workload.u }}', set: {got: '{{ output.data }}'}}, {name: put, kind: python, code: c, input: {r: '{{ get.data }}', g: '{{ got.x }}', p: '{{ _prev }}', s: '{{ results.get }}', o: '{{ output.n }}', w: '{{ workload.w }}'}}]",
      ),
    ).toEqual({
      config: ['/tasks/1/input/r', '/tasks/1/input/g', '/tasks/1/input/p', '/tasks/1/input/s', '/tasks/1/input/o'],
      args: [],
      reads: ['got.x'],
    })
  })

  it('is what the pipeline itself writes', () => {
    expect(
      deferred(
        "[{kind: noop, message: '{{ ctx.page }} {{ ctx.size }}', result: '{{ ctx.size }}'}, {kind: noop, message: '{{ page }}', result: '{{ iter.n }}', spec: {policy: {rules: [{when: 'output.data.n > ctx.max', then: {do: continue, set: {ctx.page: '{{ ctx.page + 1 }}', iter.n: 1}}}]}}}]",
      ),
    ).toEqual({
      config: ['/tasks/0/message', '/tasks/1/message', '/tasks/1/result'],
      args: [],
      reads: ['ctx.max', 'ctx.page', 'ctx.size', 'iter.n', 'page'],
    })
  })

  it('does not include the output of the step before, for a tool alone', () => {
    expect(deferred("{kind: noop, message: '{{ output.x }}', eval: [{expr: output.error, do: retry}]}").config).toEqual(
      [],
    )
  })

  it('takes a key along whose value it renders', () => {
    const { tool } = first(
      "workflow: [{step: a, tool: {kind: http, url: u, json: {'{{ workload.k }}': {t: '{{ keychain.t }}'}, '{{ workload.l }}': 1}}}]",
    )
    expect(tool.config.deferred.map(({ pointer }) => pointer)).toEqual(['/json/{{ workload.k }}/t'])
    expect(tool.config.deferredKeys.map(({ pointer }) => pointer)).toEqual(['/json/{{ workload.k }}'])
    expect(tool.config.value(context({ workload: { k: 'K', l: 'L' } }))).toMatchObject({
      json: { '{{ workload.k }}': { t: '{{ keychain.t }}' }, L: 1 },
    })
    expect(tool.workerReads).toEqual([{ root: 'workload', keys: ['k'], isOpen: false }])
  })
})

describe('a loop', () => {
  const loop = (text: string): StepPlan['loop'] =>
    first(`workflow: [{step: a, tool: {kind: noop}, loop: ${text}}]`).loop

  it('goes over a list one by one unless it says otherwise', () => {
    expect(loop("{in: '{{ workload.xs }}'}")).toMatchObject({
      mode: 'sequential',
      iterator: 'item',
      maxInFlight: 1,
      failureMode: 'fail_fast',
    })
    expect(loop('{in: [1], spec: {max_in_flight: 9}}')).toMatchObject({ mode: 'sequential', maxInFlight: 1 })
    expect(loop('{in: 3, iterator: n, spec: {mode: parallel, policy: {exec: best_effort}}}')).toMatchObject({
      mode: 'parallel',
      iterator: 'n',
      maxInFlight: undefined,
      failureMode: 'best_effort',
    })
    expect(
      loop("{in: [1], spec: {mode: parallel, max_in_flight: '{{ workload.n }}', policy: {exec: distributed}}}"),
    ).toMatchObject({
      maxInFlight: { text: '{{ workload.n }}' },
      failureMode: 'fail_fast',
    })
  })

  it('has its items', () => {
    const plan = loop("{in: '{{ workload.xs }}'}")
    if (plan === undefined || plan.mode === 'cursor') throw new Error('no list')
    expect(plan.list.items(context({ workload: { xs: [1, 2] } }))).toEqual([1, 2])
  })

  it('may claim its rows', () => {
    const plan = loop(
      "{iterator: row, cursor: {kind: postgres, auth: pg, claim: 'limit {{ __frame_max_rows }}', options: {timeout: 3}}, spec: {mode: cursor, frame: {max_rows: 5, lease_seconds: '{{ workload.l }}', process: frame}}}",
    )
    if (plan?.mode !== 'cursor') throw new Error('no cursor')
    expect(plan).toMatchObject({
      iterator: 'row',
      maxInFlight: 1,
      frame: {
        maxRows: 5,
        rowConcurrency: 1,
        maxSeconds: 30,
        leaseSeconds: { text: '{{ workload.l }}' },
        process: 'frame',
        maxAttempts: 3,
      },
    })
    expect(plan.claim.config.value(context({ __frame_max_rows: 5 }))).toEqual({
      kind: 'postgres',
      timeout: 3,
      auth: 'pg',
      query: 'limit 5',
    })
  })
})

describe('a step', () => {
  it('has its guards, sets and limits', () => {
    const step = first(
      "workflow: [{step: 'a/b', tool: {kind: noop}, when: true, set: {ctx.a.b: 1, c: '{{ output }}', step.d: 1}, vars: {v: '{{ result.v }}'}, spec: {timeout: 1.5, on_error: continue, policy: {failure: {mode: best_effort}, admit: {rules: [{when: 'workload.x', then: {allow: false}}, {else: {then: {allow: true}}}]}}}}]",
    )
    expect(step).toMatchObject({ name: 'a/b', timeoutMs: 1500, onError: 'continue', failureMode: 'best_effort' })
    expect(step.when?.isMet(context({}))).toBe(true)
    expect(step.admit.map(({ when, allow }) => [when?.isMet(context({ workload: { x: 1 } })), allow])).toEqual([
      [true, false],
      [undefined, true],
    ])
    expect(step.assignments.map(({ scope, path }) => [scope, ...path])).toEqual([
      ['ctx', 'a', 'b'],
      ['ctx', 'c'],
      ['step', 'd'],
      ['vars', 'v'],
    ])
  })

  it('takes the failure mode of the executor', () => {
    const plan = planFor(
      'executor: {spec: {policy: {failure: {mode: best_effort}}, timeout: 5m}}\nworkflow: [{step: a, tool: {kind: noop}}]',
    )
    expect(plan.steps[0]?.failureMode).toBe('best_effort')
    expect(plan.timeoutMs).toBe(300_000)
  })
})

describe('a playbook', () => {
  const steps =
    'workflow: [{step: x, tool: {kind: noop}, next: start}, {step: start, tool: {kind: noop}}, {step: z, tool: {kind: noop}}]'

  it('begins where its executor says, at start, or at its first step', () => {
    expect(planFor(`executor: {spec: {entry_step: z}}\n${steps}`).entry).toBe(2)
    expect(planFor(steps).entry).toBe(1)
    expect(planFor(steps.replaceAll('start', 'begin')).entry).toBe(0)
  })

  it('has its defaults, its ends and its needs', () => {
    const plan = planFor(
      `workload: {big: 12345678901234567890, f: 1.0}\nvars: {v: '{{ workload.big }}'}\nkeychain: [{name: k, credential: c}]\nexecutor: {version: noetl-runtime/1, requires: {tools: [python], features: [x]}, spec: {final_step: z, no_next_is_error: true}}\n${steps}`,
    )
    expect(plan).toMatchObject({
      version: 1,
      name: 'test',
      finalStep: 2,
      noNextIsError: true,
      profile: 'auto',
      requires: { tools: ['python'], features: ['x'] },
      keychain: [{ name: 'k', credential: 'c' }],
    })
    expect(plan.workload['big']).toBe(12345678901234567890n)
    expect(plan.vars?.value(context({ workload: { big: 1 } }))).toEqual({ v: 1 })
  })
})

describe('what real playbooks write', () => {
  it.each([
    ['python', 'code, input, name, spec, libs, set, args, script, auth'],
    ['postgres', 'auth, command, query, spec, credential, pool, script'],
    [
      'http',
      'method, url, headers, spec, params, auth, json, verify_ssl, set, body, follow_redirects, data, payload, timeout, endpoint, form, output_select',
    ],
    ['shell', 'cmds, exports'],
    ['playbook', 'path, return_step, retry, args, input, timeout, payload'],
    ['duckdb', 'database, commands, command, query, auth'],
  ])('for %s is known: %s', (kind, keys) => {
    const maps = new Set(['input', 'args', 'spec', 'set', 'retry', 'payload'])
    const fields = keys.split(', ').map((key) => `${key}: ${maps.has(key) ? '{}' : key === 'timeout' ? '30' : 'x'}`)
    expect(planned(`workflow: [{step: a, tool: {kind: ${kind}, ${fields.join(', ')}}}]`).problems).toEqual([])
  })

  it('around a tool is known too', () => {
    const body = `keychain: [{name: k, credential: c}]
workbook: [{name: w, tool: {kind: noop}}]
executor: {profile: local, version: noetl-runtime/1}
workload: {xs: [1]}
workflow:
  - step: start
    desc: all keys of a step
    input: {a: 1}
    tool: {kind: python, code: c}
    loop: {in: '{{ workload.xs }}', iterator: x, spec: {mode: parallel, max_in_flight: 8, policy: {exec: distributed}}}
    output: {output_select: [a, {path: b.c, as: c}]}
    set: {ctx.n: 1}
    vars: {v: 1}
    spec: {timeout: 5m}
    next: {spec: {mode: exclusive, on_no_match: quiet}, arcs: [{step: end, when: '{{ ctx.n }}', set: {m: 1}}]}
`
    const { plan, problems } = planned(body)
    expect(problems).toEqual([])
    expect(plan?.steps[0]?.tool.config.value(context({}))).toEqual({
      kind: 'python',
      code: 'c',
      output: { output_select: ['a', { path: 'b.c', as: 'c' }] },
    })
  })
})
