// What is probably a mistake is said, and does not stop anything.
import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/domain/playbook/planOf.js'
import { HEAD, planned, problemsOf } from './playbooks.js'

const step = (more: string): string =>
  `workflow: [{step: a, tool: {kind: noop}, ${more}}, {step: b, tool: {kind: noop}}]`
const tool = (text: string): string => `workflow: [{step: a, tool: ${text}}]`

const CASES: readonly (readonly [what: string, body: string, expected: string])[] = [
  [
    'an unknown key of a rule',
    tool('{kind: http, url: u, spec: {policy: {rules: [{else: {do: continue, sett: {a: 1}}}]}}}'),
    '/workflow/0/tool/spec/policy/rules/0/else/sett: "sett" is not a known key here; do you mean set?',
  ],
  [
    'a misspelt guard of a rule, which would always be met',
    tool('{kind: http, url: u, spec: {policy: {rules: [{wen: "{{ output.error }}", then: {do: fail}}]}}}'),
    '/workflow/0/tool/spec/policy/rules/0/wen: "wen" is not a known key here; do you mean when?',
  ],
  [
    'a misspelt policy of a tool',
    tool('{kind: http, url: u, spec: {polcy: {rules: []}}}'),
    '/workflow/0/tool/spec/polcy: "polcy" is not a known key here; do you mean policy?',
  ],
  [
    'a misspelt policy of a tool whose fields are not all known',
    tool('{kind: container, image: i, spec: {polcy: {rules: []}, replicas: 2}}'),
    '/workflow/0/tool/spec/polcy: "polcy" is not a known key here; do you mean policy?',
  ],
  [
    'a misspelt time-out of a tool',
    tool('{kind: http, url: u, spec: {timout: 3}}'),
    '/workflow/0/tool/spec/timout: "timout" is not a known key here; do you mean timeout?',
  ],
  [
    'a misspelt part of a time-out of a tool',
    tool('{kind: http, url: u, spec: {timeout: {conect: 3}}}'),
    '/workflow/0/tool/spec/timeout/conect: "conect" is not a known key here; do you mean connect?',
  ],
  [
    'a misspelt on_unmatched',
    tool('[{name: t, kind: http, url: u, spec: {policy: {on_unmatchd: fail, rules: []}}}]'),
    '/workflow/0/tool/0/spec/policy/on_unmatchd: "on_unmatchd" is not a known key here; do you mean on_unmatched?',
  ],
  [
    'a misspelt failure mode of a step',
    step('next: b, spec: {policy: {failure: {moode: best_effort}}}'),
    '/workflow/0/spec/policy/failure/moode: "moode" is not a known key here; do you mean mode?',
  ],
  [
    'a misspelt rule of admission',
    step('next: b, spec: {policy: {admit: {rules: [{whn: false, then: {allow: false}}]}}}'),
    '/workflow/0/spec/policy/admit/rules/0/whn: "whn" is not a known key here; do you mean when?',
  ],
  [
    'a misspelt failure mode of the executor',
    `executor: {spec: {policy: {failure: {mod: best_effort}}}}\n${tool('{kind: noop}')}`,
    '/executor/spec/policy/failure/mod: "mod" is not a known key here; do you mean mode?',
  ],
  [
    'a misspelt policy of a loop',
    step('next: b, loop: {in: [1], spec: {policy: {exc: best_effort}}}'),
    '/workflow/0/loop/spec/policy/exc: "exc" is not a known key here; do you mean exec?',
  ],
  [
    'a misspelt selection of a step',
    step('next: b, output: {selct: [data.x]}'),
    '/workflow/0/output/selct: "selct" is not a known key here; do you mean select?',
  ],
  [
    'a program that is too long for a template',
    tool(`{kind: python, code: 'x = f"{{ a }}"${'+'.repeat(65_536)}'}`),
    '/workflow/0/tool/code: braces that are no template stay as text: longer than 65536 characters',
  ],
  [
    'an unfinished task of the workbook that nobody refers to',
    'workbook: [{name: x, tool: {kind: playbook, return_step: end}}]\nworkflow: [{step: a, tool: {kind: noop}}]',
    '/workbook/0/tool: names no playbook; give its path or its catalog_id',
  ],
  ['a step that nothing leads to', step(''), '/workflow/1: step "b" cannot be reached'],
  [
    'an arc behind one without a guard',
    step('next: {arcs: [{step: b}, {step: end, when: "{{ workload.x }}"}]}'),
    '/workflow/0/next/arcs/1: is never taken: /workflow/0/next/arcs/0 before it has no guard and the mode is exclusive',
  ],
  [
    'an arc behind one that is always true',
    step('next: {arcs: [{step: b, when: true}, {step: end}]}'),
    '/workflow/0/next/arcs/1: is never taken: /workflow/0/next/arcs/0 before it has no guard and the mode is exclusive',
  ],
  [
    'a guard that compares outside of its braces',
    step('next: b, when: "{{ workload.n }} > 2"'),
    '/workflow/0/when: compares outside of the braces: it is a text, which is true whatever it says; write {{ n > 2 }}, not {{ n }} > 2',
  ],
  [
    'a guard that is a plain word',
    step('next: b, when: success'),
    '/workflow/0/when: is a plain word: it reads the name success, which nothing defines',
  ],
  [
    'an unknown key of a step',
    step('next: b, descr: x'),
    '/workflow/0/descr: "descr" is not a known key here; do you mean desc?',
  ],
  [
    'an unknown key of the document',
    `workflows: []\n${tool('{kind: noop}')}`,
    '/workflows: "workflows" is not a known key here; do you mean workflow?',
  ],
  [
    'an unknown key of a loop',
    step('next: b, loop: {in: [1], mode: parallel}'),
    '/workflow/0/loop/mode: "mode" is not a known key here',
  ],
  ['an unknown key of an arc', step('next: [{step: b, if: x}]'), '/workflow/0/next/0/if: "if" is not a known key here'],
  [
    'an unknown key of a tool',
    tool('{kind: http, uri: x}'),
    '/workflow/0/tool/uri: "uri" is not a known key here; do you mean url?',
  ],
  ['an unknown kind', tool('{kind: fax}'), '/workflow/0/tool/kind: "fax" is not a known kind of tool'],
  [
    'a limit on a sequential loop',
    step('next: b, loop: {in: [1], spec: {max_in_flight: 4}}'),
    '/workflow/0/loop/spec/max_in_flight: has no effect: a sequential loop runs one iteration at a time',
  ],
  [
    'a root that nothing defines',
    step('next: b, set: {ctx.x: "{{ worklod.x }}"}'),
    '/workflow/0/set/ctx.x: reads "worklod", which nothing in this playbook defines',
  ],
  [
    'braces of another language in a command',
    tool(`{kind: shell, cmds: ['docker ps --format "{{.ID}}"']}`),
    '/workflow/0/tool/cmds/0: braces that are no template stay as text: expected a value, found "." near ".ID}}',
  ],
  [
    'braces of another language in code',
    tool('{kind: python, code: \'x = f"{{ }}"\'}'),
    '/workflow/0/tool/code: braces that are no template stay as text: ',
  ],
  [
    'a secret where no tool runs',
    step('next: b, when: "{{ keychain.k.v }}"'),
    '/workflow/0/when: reads keychain or token(), which are only known where a tool runs',
  ],
  [
    'iter outside a loop',
    step('next: b, set: {iter.x: 1}'),
    '/workflow/0/set/iter.x: iter is lost: the step has no loop',
  ],
  [
    'what the rows of a cursor set',
    `workflow: [{step: a, loop: {cursor: {kind: postgres, auth: pg, claim: "select 1"}, iterator: job}, tool: {kind: noop, set: {ctx.last: 1, iter.x: 2}}}]`,
    '/workflow/0/tool/set/ctx.last: is not kept: rows of a cursor are worked on for their effect; write it to a table, or set it in the step',
  ],
  [
    'an unknown profile',
    `executor: {profile: remote}\n${tool('{kind: noop}')}`,
    '/executor/profile: is none of local, distributed, auto; auto is assumed',
  ],
]

describe('a playbook with', () => {
  it.each(CASES.map(([what, body, expected]) => ({ what, body, expected })))(
    '$what is planned with a warning',
    ({ body, expected }) => {
      expect(planned(body).plan).toBeDefined()
      const warnings = problemsOf(body, 'warning')
      expect(
        warnings.some((warning) => warning.startsWith(expected)),
        warnings.join('\n'),
      ).toBe(true)
    },
  )

  it('labels that are not texts is planned with a warning', () => {
    const labels = HEAD.replace('{name: test,', '{labels: {team: core, tier: 2}, name: test,')
    expect(planOf(`${labels}${tool('{kind: noop}')}`)).toMatchObject({
      plan: { name: 'test' },
      problems: [
        { pointer: '/metadata/labels/tier', severity: 'warning', message: expect.stringMatching(/^is not text/) },
      ],
    })
  })

  it.each([
    'workload: {x: 1}\nworkflow: [{step: a, tool: {kind: noop}, when: x, next: {arcs: [{step: b, when: "{{ a.ok }}"}, {step: end}]}}, {step: b, tool: {kind: noop}}]',
    'workflow: [{step: a, loop: {in: [1], iterator: row}, tool: [{name: get, kind: http, url: "{{ row }}", set: {got: "{{ output }}"}}, {kind: noop, result: "{{ got }} {{ get }} {{ _prev }} {{ results.get }}"}]}]',
    'workflow: [{step: a, tool: {kind: container, image: i, spec: {replicas: 2, timeout: 3}}}]',
    'workflow: [{step: a, tool: {kind: http, url: u, spec: {timeout: {connect: 1, read: 2}, policy: {mode: exclusive, rules: [{else: {do: retry, max_delay: 9}}]}}}}]',
    step(
      'next: b, set: {ctx.x: "{{ trace }} {{ env }} {{ job }} {{ steps }} {{ vars }} {{ playbook }} {{ parent_execution_id }}"}',
    ),
  ])('nothing wrong has no warning', (body) => {
    expect(problemsOf(body)).toEqual([])
  })
})
