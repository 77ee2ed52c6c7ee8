// Whatever makes a playbook impossible to run is found before it runs, named by its place, together with everything else
// that is wrong.
import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/domain/playbook/planOf.js'
import { HEAD, planned, problemsOf } from './playbooks.js'

const step = (more: string): string =>
  `workflow: [{step: a, tool: {kind: noop}, ${more}}, {step: b, tool: {kind: noop}}]`
const tool = (text: string): string => `workflow: [{step: a, tool: ${text}}]`
const rule = (text: string): string => tool(`{kind: noop, spec: {policy: {rules: [${text}]}}}`)
const RULE = '/workflow/0/tool/spec/policy/rules/0'

const CASES: readonly (readonly [what: string, body: string, ...expected: RegExp[]])[] = [
  ['no workflow', 'workload: {}', /^\/workflow: must be a list of steps$/],
  ['a workflow that is not a list', 'workflow: {step: a}', /^\/workflow: must be a list/],
  ['an empty workflow', 'workflow: []', /^\/workflow: is empty/],
  ['a step that is not a mapping', 'workflow: [a]', /^\/workflow\/0: must be a mapping$/],
  [
    'a step without a name',
    'workflow: [{stp: a}]',
    /^\/workflow\/0\/step: is missing$/,
    /^\/workflow\/0\/tool: the step has no tool$/,
  ],
  [
    'a step with an empty name',
    "workflow: [{step: '', tool: {kind: noop}}]",
    /^\/workflow\/0\/step: must not be empty$/,
  ],
  [
    'a name taken',
    'workflow: [{step: a, tool: {kind: noop}}, {step: b, tool: {kind: noop}}, {step: a, tool: {kind: noop}}]',
    /^\/workflow\/2\/step: "a" is already the name of \/workflow\/0$/,
  ],
  [
    'names of steps that YAML reads as numbers',
    'workflow: [{step: 1, tool: {kind: noop}, next: 2}, {step: 2, tool: {kind: noop}, next: [3, {step: 1.5}]}, {step: true, tool: {kind: noop}}]',
    /^\/workflow\/0\/step: is the number 1, and names of steps are texts; put it in quotes: "1"$/,
    /^\/workflow\/0\/next: is the number 2, and names of steps are texts; put it in quotes: "2"$/,
    /^\/workflow\/1\/next\/0: is the number 3, and names of steps are texts; put it in quotes: "3"$/,
    /^\/workflow\/1\/next\/1\/step: is the number 1.5, and names of steps are texts; put it in quotes: "1.5"$/,
    /^\/workflow\/2\/step: is the boolean true, and names of steps are texts; put it in quotes: "true"$/,
  ],
  ['no tool', 'workflow: [{step: end}]', /^\/workflow\/0\/tool: step "end" has no tool$/],
  ['a tool that is neither', tool('noop'), /^\/workflow\/0\/tool: must be a mapping with a kind, or a list of tasks$/],
  ['an empty pipeline', tool('[]'), /^\/workflow\/0\/tool: is an empty list/],
  ['a tool without a kind', tool('{name: x}'), /^\/workflow\/0\/tool: the tool has no kind$/],
  [
    'a kind that is not a text',
    tool('{kind: [noop]}'),
    /^\/workflow\/0\/tool\/kind: must be a text, such as kind: noop$/,
  ],
  ['a task without a kind', tool('[{kind: noop}, {name: x}]'), /^\/workflow\/0\/tool\/1: task 2 has no kind$/],
  [
    'a label taken',
    tool('[{name: x, kind: noop}, {x: {kind: noop}}]'),
    /^\/workflow\/0\/tool\/1: the label "x" is taken by \/workflow\/0\/tool\/0$/,
  ],
  ['an empty label', tool("[{'': {kind: noop}}]"), /^\/workflow\/0\/tool\/0: the label of the task is empty$/],
  ['case', step('case: []'), /^\/workflow\/0\/case: case is not part of v2, use next.arcs$/],
  ['an unknown target', step('next: c'), /^\/workflow\/0\/next: there is no step "c"$/],
  ['an unknown target in a list', step('next: [b, c]'), /^\/workflow\/0\/next\/1: there is no step "c"$/],
  [
    'an unknown target of an arc',
    step('next: {arcs: [{step: c}]}'),
    /^\/workflow\/0\/next\/arcs\/0\/step: there is no step "c"$/,
  ],
  ['an arc without a target', step('next: {arcs: [{when: true}]}'), /^\/workflow\/0\/next\/arcs\/0\/step: is missing$/],
  ['arcs that are no list', step('next: {arcs: {step: b}}'), /^\/workflow\/0\/next\/arcs: must be a list/],
  [
    'a mode of arcs',
    step('next: {spec: {mode: both}, arcs: []}'),
    /^\/workflow\/0\/next\/spec\/mode: must be one of exclusive, inclusive$/,
  ],
  ['next_mode', step('spec: {next_mode: both}'), /^\/workflow\/0\/spec\/next_mode: must be one of/],
  [
    'on_no_match',
    step('next: {spec: {on_no_match: x}, arcs: []}'),
    /^\/workflow\/0\/next\/spec\/on_no_match: must be one of/,
  ],
  ['on_error', step('spec: {on_error: ignore}'), /^\/workflow\/0\/spec\/on_error: must be one of fail, continue$/],
  ['a time-out', step('spec: {timeout: soon}'), /^\/workflow\/0\/spec\/timeout: must be a number of seconds above 0/],
  ['a loop over nothing', step('loop: {iterator: x}'), /^\/workflow\/0\/loop: goes over nothing/],
  ['a cursor without a claim', step('loop: {cursor: {kind: postgres}}'), /^\/workflow\/0\/loop\/cursor: has no claim/],
  [
    'a cursor loop without a cursor',
    step('loop: {spec: {mode: cursor}}'),
    /^\/workflow\/0\/loop: is a cursor loop without a cursor$/,
  ],
  [
    'an iterator',
    step("loop: {in: [1], iterator: 'my item'}"),
    /^\/workflow\/0\/loop\/iterator: "my item" is not a name/,
  ],
  ['a mode of a loop', step('loop: {in: [1], spec: {mode: fast}}'), /^\/workflow\/0\/loop\/spec\/mode: must be one of/],
  [
    'an exec of a loop',
    step('loop: {in: [1], spec: {policy: {exec: best-effort}}}'),
    /^\/workflow\/0\/loop\/spec\/policy\/exec: must be one of fail_fast, best_effort, distributed, local$/,
  ],
  [
    'max_in_flight',
    step('loop: {in: [1], spec: {mode: parallel, max_in_flight: 0}}'),
    /^\/workflow\/0\/loop\/spec\/max_in_flight: must be a whole number from 1/,
  ],
  ['a rule without then', rule('{when: true}'), new RegExp(`^${RULE}: has neither then nor else`)],
  ['an action', rule('{when: true, then: {do: stop}}'), new RegExp(`^${RULE}/then/do: must be one of continue, retry`)],
  ['an action of else', rule('{else: {do: stop}}'), new RegExp(`^${RULE}/else/do: must be one of`)],
  ['a jump nowhere', rule('{else: {then: {do: jump}}}'), new RegExp(`^${RULE}/else/then: jumps nowhere`)],
  [
    'a jump to an unknown task',
    rule('{else: {then: {do: jump, to: x}}}'),
    new RegExp(`^${RULE}/else/then/to: there is no task "x" here`),
  ],
  [
    'attempts',
    rule('{else: {then: {do: retry, attempts: 0}}}'),
    new RegExp(`^${RULE}/else/then/attempts: must be a whole number from 1`),
  ],
  [
    'a delay',
    rule('{else: {then: {do: retry, delay: -1}}}'),
    new RegExp(`^${RULE}/else/then/delay: must be a number of seconds from 0`),
  ],
  [
    'a backoff',
    rule('{else: {then: {do: retry, backoff: slow}}}'),
    new RegExp(`^${RULE}/else/then/backoff: must be one of none, fixed, linear`),
  ],
  [
    'an entry of eval',
    tool('{kind: noop, eval: [{do: fail}]}'),
    /^\/workflow\/0\/tool\/eval\/0: has neither expr nor else$/,
  ],
  ['a retry', tool('{kind: noop, retry: 0}'), /^\/workflow\/0\/tool\/retry: must be a whole number from 1/],
  [
    'a template that does not parse',
    step('set: {ctx.x: "{{ 1 + }}"}'),
    /^\/workflow\/0\/set\/ctx\.x: template error at \/workflow\/0\/set\/ctx\.x: .+ near ".*"$/,
  ],
  ['a guard that does not parse', step('when: a ==='), /^\/workflow\/0\/when: template error at \/workflow\/0\/when: /],
  [
    'an empty guard',
    step("when: ' '"),
    /^\/workflow\/0\/when: template error at \/workflow\/0\/when: the condition is empty/,
  ],
  ['a filter', step('set: {x: "{{ 1 | twice }}"}'), /^\/workflow\/0\/set\/x: template error .*twice/],
  ['a test', step('when: 1 is magic'), /^\/workflow\/0\/when: template error .*magic/],
  ['a function', step('when: magic(1)'), /^\/workflow\/0\/when: template error .*magic/],
  [
    'a template in a query',
    tool('{kind: postgres, query: "select {{ 1 + }}"}'),
    /^\/workflow\/0\/tool\/query: template error/,
  ],
  [
    'a template in a policy',
    rule("{when: '{{ 1 + }}', then: {do: fail}}"),
    new RegExp(`^${RULE}/when: template error`),
  ],
  [
    'a template in a claim',
    step("loop: {cursor: {claim: '{{ 1 + }}'}}"),
    /^\/workflow\/0\/loop\/cursor\/claim: template error/,
  ],
  ['a template in vars', `vars: {x: '{{ 1 + }}'}\n${tool('{kind: noop}')}`, /^\/vars\/x: template error/],
  [
    'an unknown entry step',
    `executor: {spec: {entry_step: z}}\n${tool('{kind: noop}')}`,
    /^\/executor\/spec\/entry_step: there is no step "z"$/,
  ],
  [
    'an unknown final step',
    `executor: {spec: {final_step: z}}\n${tool('{kind: noop}')}`,
    /^\/executor\/spec\/final_step: there is no step "z"$/,
  ],
  [
    'a workbook task without a name',
    `workbook: [{tool: {kind: noop}}]\n${tool('{kind: noop}')}`,
    /^\/workbook\/0: has no name$/,
  ],
  [
    'a workbook task without a tool',
    `workbook: [{name: x}]\n${tool('{kind: noop}')}`,
    /^\/workbook\/0\/tool: workbook task "x" has no tool$/,
  ],
  ['an unknown workbook task', tool('{kind: workbook, name: x}'), /^\/workflow\/0\/tool: the workbook has no task "x"/],
  [
    'a workbook that refers to itself',
    `workbook: [{name: x, tool: {kind: workbook, name: y}}, {name: y, tool: {kind: workbook, name: x}}]\n${tool('{kind: workbook, name: x}')}`,
    /^\/workbook\/\d: refers to itself: /,
  ],
  [
    'a child without a name',
    tool('{kind: playbook}'),
    /^\/workflow\/0\/tool: names no playbook; give its path or its catalog_id$/,
  ],
  ['arguments that are no map', tool('{kind: noop, input: 7}'), /^\/workflow\/0\/tool\/input: must be a mapping/],
  ['a set without a name', step('set: {ctx.: 1}'), /^\/workflow\/0\/set\/ctx\.: "ctx\." is not a name/],
  [
    'a secret copied by the engine',
    "workflow: [{step: a, input: {key: '{{ keychain.k.v }}'}, tool: {kind: http, url: '{{ input.key }}'}}]",
    /^\/workflow\/0\/tool: \/url copies input\.key, which is only known where the tool runs/,
  ],
]

describe('a playbook with', () => {
  it.each(CASES.map(([what, body, ...expected]) => ({ what, body, expected })))(
    '$what is refused',
    ({ body, expected }) => {
      const errors = problemsOf(body, 'error')
      for (const pattern of expected)
        expect(
          errors.some((error) => pattern.test(error)),
          `${pattern} in ${errors.join('\n')}`,
        ).toBe(true)
      expect(planned(body).plan).toBeUndefined()
    },
  )

  it('steps without a name gets no warnings about a step of that name', () => {
    const body = 'workflow: [{step: start, tool: {kind: noop}}, {step: 1, tool: {kind: noop}}, {tool: {kind: noop}}]'
    expect(problemsOf(body, 'warning')).toEqual([])
  })

  it('another version or kind is refused', () => {
    const { problems } = planOf(
      'apiVersion: noetl.io/v1\nkind: Workflow\nmetadata: {name: x}\nworkflow: [{step: a, tool: {kind: noop}}]',
    )
    // The kind is judged by the catalog already, which knows what else there is.
    expect(problems).toEqual([
      { pointer: '/kind', severity: 'error', message: expect.stringMatching(/^must be one of playbook/) },
    ])
    const other = planOf(
      `${HEAD.replace('v2', 'v1').replace('Playbook', 'Agent')}workflow: [{step: a, tool: {kind: noop}}]`,
    )
    expect(other.problems).toEqual([
      { pointer: '/apiVersion', severity: 'error', message: 'must be noetl.io/v2' },
      { pointer: '/kind', severity: 'error', message: 'must be Playbook' },
    ])
  })

  it('a text that is not a document is refused', () => {
    expect(planOf('a: [').problems).toEqual([
      { pointer: '', severity: 'error', message: expect.stringMatching(/^is not readable as YAML/) },
    ])
  })

  it('several mistakes gets all of them at once', () => {
    expect(
      problemsOf('workflow: [{step: a}, {step: a, next: z, when: "("}, {step: b, tool: [], loop: {}}]', 'error'),
    ).toHaveLength(7)
  })

  it('very many mistakes gets the first two hundred and their number', () => {
    const steps = Array.from({ length: 300 }, (_, index) => `{step: s${index}}`).join(', ')
    const errors = problemsOf(`workflow: [${steps}]`)
    expect(errors).toHaveLength(201)
    expect(errors.at(-1)).toMatch(/further problems are not listed$/)
  })

  it('too many steps is refused before its graph is drawn', () => {
    const steps = Array.from({ length: 5_001 }, (_, index) => `{step: s${index}}`).join(', ')
    expect(problemsOf(`workflow: [${steps}]`)).toEqual(['/workflow: has 5001 steps; at most 5000 are accepted'])
  })
})
