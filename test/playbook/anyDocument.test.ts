// Whatever a document holds, planning it ends with a plan or with problems whose pointers lead into it, never with a crash.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readYaml, YAML_LIMITS } from '../../src/domain/catalog/yamlText.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import { planDocument } from '../../src/domain/playbook/planDocument.js'

const WHOLE = readYaml(
  `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: x, labels: {a: b}}
workload: {xs: [1]}
vars: {v: '{{ workload.xs }}'}
keychain: [{name: k}]
workbook: [{name: w, input: {a: 1}, tool: {kind: noop}}]
executor: {profile: local, requires: {tools: [noop]}, spec: {entry_step: a, final_step: b, timeout: 5m, policy: {failure: {mode: fail_fast}}}}
workflow:
  - step: a
    when: workload.xs
    input: {x: '{{ keychain.k }}'}
    tool: [{name: t, kind: http, url: '{{ u }}', retry: {attempts: 2, retry_on: [timeout]}, set: {s: '{{ output }}'}, spec: {policy: {rules: [{when: x, then: {do: jump, to: t}}, {else: {do: fail}}]}}}, {u: {kind: playbook, path: p, payload: {a: 1}}}]
    loop: {in: '{{ workload.xs }}', iterator: x, spec: {mode: parallel, max_in_flight: 2}}
    set: {ctx.n: '{{ output.n }}'}
    vars: {z: 1}
    spec: {timeout: 3, on_error: continue, policy: {admit: {rules: [{when: x, then: {allow: true}}]}}}
    next: {spec: {mode: inclusive}, arcs: [{step: b, when: event.name, set: {y: 1}, args: {q: 1}}, {step: a}]}
  - step: b
    tool: {kind: workbook, name: w, input: {b: 2}}
    loop: {cursor: {kind: postgres, claim: '{{ x }}', options: {a: 1}}, spec: {frame: {max_rows: 2}}}
    next: [a, {step: end}]
`,
  YAML_LIMITS,
  [],
) as JsonObject

/** Every place of a document, as a list of keys. */
function placesOf(value: JsonValue, path: string[] = []): string[][] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, index) => placesOf(item, [...path, String(index)]))]
  if (!isJsonObject(value)) return [path]
  return [path, ...Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, key]))]
}

function replaced(value: JsonValue, [key, ...rest]: readonly string[], by: JsonValue): JsonValue {
  if (key === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? replaced(item, rest, by) : item))
  return { ...(value as JsonObject), [key]: replaced((value as JsonObject)[key] as JsonValue, rest, by) }
}

function leadsSomewhere(document: JsonValue, pointer: string): boolean {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  // What is missing is named by the place where it should be.
  let value: JsonValue | undefined = document
  for (const key of keys.slice(0, -1)) {
    value = typeof value === 'object' && value !== null ? (value as JsonObject)[key] : undefined
  }
  return value !== undefined
}

const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue),
  fc.constantFrom<JsonValue>(
    '{{',
    '{{ x',
    '{% if %}',
    'a b',
    '',
    '\u0000',
    [],
    {},
    null,
    true,
    -1,
    10n ** 30n,
    ['{{ x }}'],
    {
      '{{ k }}': '{{ keychain.v }}',
    },
  ),
)

it('is planned or refused', () => {
  expect(planDocument(WHOLE).problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const place = fc.constantFrom(...placesOf(WHOLE).filter((path) => path.length > 0))
  fc.assert(
    fc.property(fc.array(fc.tuple(place, strange), { minLength: 1, maxLength: 3 }), (changes) => {
      let document: JsonValue = WHOLE
      for (const [path, by] of changes) {
        if (placesOf(document).some((known) => known.join('/') === path.join('/')))
          document = replaced(document, path, by)
      }
      const { plan, problems } = planDocument(document as JsonObject)
      expect(plan === undefined).toBe(problems.some(({ severity }) => severity === 'error'))
      expect(problems.filter(({ pointer }) => !leadsSomewhere(document, pointer))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

it('cannot be made slow by references that follow each other', () => {
  const count = 3_000
  const workbook = Array.from({ length: count }, (_, index) => ({
    name: `w${index}`,
    tool: { kind: 'workbook', name: `w${index + 1}` },
  }))
  const { problems } = planDocument({ ...WHOLE, workbook })
  expect(problems.some(({ message }) => message.includes('more than 20 references in a row'))).toBe(true)
})
