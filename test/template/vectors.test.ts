// The recorded template, condition and loop-list cases: every case on which the reference engines agree and every
// one that was decided for this project gives the value wanted, digit for digit.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/domain/json/canonical.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import { evaluateTemplate, type TemplateKind } from '../../src/domain/template/evaluate.js'
import { TemplateError } from '../../src/domain/template/templateError.js'

interface Vector {
  id: string
  kind: TemplateKind
  template: string
  context?: JsonObject
  context_ref?: string
  steps?: string[]
  expected?: JsonValue
  expected_error?: boolean
  basis: string
}

const file = parseJson(readFileSync('test/fixtures/templates.json', 'utf8')) as unknown as {
  contexts: Record<string, JsonObject>
  cases: Vector[]
}

/** 1 and 1.0 compare as equal, and key order does not count. */
function comparable(value: JsonValue): JsonValue {
  if (value instanceof Float) return Number.isSafeInteger(value.value) ? value.value : value
  if (Array.isArray(value)) return value.map(comparable)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]))
}

describe('recorded template cases', () => {
  it('holds cases of every basis', () => {
    expect(new Set(file.cases.map(({ basis }) => basis))).toEqual(
      new Set(['references agree', 'decided', 'deliberate deviation']),
    )
  })

  it.each(file.cases.map((one) => [one.id, one.kind, one.template, one] as const))(
    '%s %s %s',
    (_, kind, template, one) => {
      const context = one.context ?? (file.contexts[one.context_ref ?? ''] as JsonObject)
      const evaluate = () => evaluateTemplate({ kind, template, context, steps: one.steps ?? [] }, 0)
      if (one.expected_error === true) expect(evaluate).toThrow(TemplateError)
      else expect(canonicalJson(comparable(evaluate()))).toBe(canonicalJson(comparable(one.expected as JsonValue)))
    },
  )
})
