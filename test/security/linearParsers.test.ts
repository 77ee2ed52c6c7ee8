// Promise: whatever reads text of others takes time in proportion to its length, whatever that text holds. Each parser
// is fed with pieces of its own grammar, repeated, at two sizes: twice the text, at most three times the time.
import { describe, expect, it } from 'vitest'
import { parseGauges } from '../../src/cli/daemonGauges.js'
import { parseDuration } from '../../src/cli/duration.js'
import { parseCatalogDocument } from '../../src/domain/catalog/catalogDocument.js'
import { readYaml, YAML_LIMITS } from '../../src/domain/catalog/yamlText.js'
import { parseEnvelope } from '../../src/domain/events/envelope.js'
import { normaliseEvent } from '../../src/domain/events/normaliseEvent.js'
import { storableJson } from '../../src/domain/events/storableText.js'
import { parseWireTime, type WireTime } from '../../src/domain/events/wireTime.js'
import { parseExecutionId } from '../../src/domain/ids/ids.js'
import { canonicalText } from '../../src/domain/json/canonical.js'
import { parseJson, parseJsonStrict } from '../../src/domain/json/parse.js'
import { JSON_DEPTH_MAX, type JsonObject } from '../../src/domain/json/value.js'
import { cleanToken, subjectMatches } from '../../src/domain/outbox/subject.js'
import { integerOfText } from '../../src/domain/replay/coerce.js'
import { hide, redact, redactText } from '../../src/domain/secrets/redact.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { parseDatabaseTargets } from '../../src/domain/shards/databaseTarget.js'
import { bodyJson } from '../../src/domain/subscriptions/ingressMessage.js'
import { listenerOf } from '../../src/domain/subscriptions/subscriptionSpec.js'
import { PlainContext } from '../../src/domain/template/plainContext.js'
import { Template } from '../../src/domain/template/template.js'
import { growthOf, RATIO_MAX } from '../support/growth.js'
import { JSON_FORMS, LONG_YAML_FORMS, SECRET_FORMS, TEMPLATE_FORMS, textOf, YAML_FORMS } from './hostileForms.js'

const SIZE = 12_000
const YAML_SIZE = 2_500
const LONG_YAML_SIZE = 16_000
const NOW = '2026-01-01T00:00:00.000000+00:00' as WireTime
const RULES = secretRules()
const CONTEXT = new PlainContext({ a: 1, x: [1] }, new Set(), 0)

const PARSERS: Record<string, [parse: (text: string) => unknown, forms: readonly string[], size?: number]> = {
  'JSON, ours': [(text) => parseJson(text), JSON_FORMS],
  'JSON, of others': [(text) => parseJsonStrict(text, { maxDepth: JSON_DEPTH_MAX }), JSON_FORMS],
  'canonical JSON': [(text) => canonicalText(text), JSON_FORMS],
  'bodies of webhooks': [(text) => bodyJson(Buffer.from(text)), JSON_FORMS],
  YAML: [(text) => readYaml(text, YAML_LIMITS, []), YAML_FORMS, YAML_SIZE],
  'YAML, long': [(text) => readYaml(text, YAML_LIMITS, []), LONG_YAML_FORMS, LONG_YAML_SIZE],
  'catalog documents': [
    (text) => parseCatalogDocument(text),
    ['metadata: {name: x}\n«k§: &a [1]\nl§: *a\n»', '«QUJD»', '«QUJD\n»', 'kind: Subscription\nspec: {«k§: 1, »}'],
    YAML_SIZE,
  ],
  'secrets in text': [(text) => redactText(text, RULES), SECRET_FORMS],
  'secrets in JSON': [
    (text) => redact(parseJson(text), RULES),
    [
      '{«"k§":"password=x",»"z":0}',
      '{«"password_§":"x",»"z":0}',
      '[«"eyJ.",»1]',
      '{"«a_»":1}',
      '{"«aA»":1}',
      '{"«9»":1}',
    ],
  ],
  'secrets kept aside': [
    (text) => hide(parseJson(text), RULES, {}),
    ['{«"password_§":"x",»"z":0}', '[«{"token":"x"},»1]'],
  ],
  templates: [(text) => Template.compile(text)?.value(CONTEXT), TEMPLATE_FORMS],
  expressions: [
    (text) => Template.compileExpression(text),
    TEMPLATE_FORMS.map((form) => form.replace(/\{\{ ?| ?\}\}/g, '')).filter((form) => !form.includes('«»')),
  ],
  events: [
    (text) => normaliseEvent(parseJson(text) as JsonObject, { mintEventId: () => '1' as never, now: NOW }),
    ['{"execution_id":1,"event_type":"a","payload":{«"k§":1,»"z":0}}', '{"execution_id":1,"event_type":"«_a»"}'],
  ],
  envelopes: [
    (text) => parseEnvelope(parseJson(text), { now: NOW }),
    ['{"event_id":1,"meta":{«"k§":1,»"z":0}}', '{«"k§":1,»"event_id":1}'],
  ],
  'storable text': [(text) => storableJson([text]), ['«\0»', '«\ud800»', '«a\0»']],
  times: [(text) => parseWireTime(text, 'at'), ['«2»', '2026-01-01T00:00:00.«0»', '« »']],
  ids: [(text) => parseExecutionId(text), ['«1»', '-«0»', '« »']],
  integers: [(text) => integerOfText(text), ['«1»', '«1_»1', '« »1', '«\u0661»']],
  'tokens of subjects': [(text) => cleanToken(text), ['«-»', '«-»a', 'a«-»a', '«é»', '«.»']],
  subjects: [(text) => subjectMatches(text, text.replaceAll('*', 'a')), ['«*.»a', '«a.»>', '«.»']],
  listeners: [(text) => listenerOf(text), ['«/»', '«/»a', '/«/a»', '«a»', '«a/»!', '/a«/»']],
  'names of databases': [
    (text) => parseDatabaseTargets(text, 'X'),
    ['postgres://«a»', 'host=a;«a=b;»', 'host=a§«,host=a§»', 'postgres://u:«%2c»@h/d'],
    3_000,
  ],
  metrics: [
    (text) => parseGauges(text),
    ['«a{b="c"} 1\n»', 'a{«b="c",»} 1', 'a{«b="»} 1', 'a{«b»} 1', '«a»', 'a{«}»', 'a «1»'],
  ],
  durations: [(text) => parseDuration(text, '--in'), ['«1»', '«1h»', '«h»', '« »']],
}

describe.each(Object.entries(PARSERS))('%s', (_, [parse, forms, size = SIZE]) => {
  it.each(forms.map((form) => [form]))('%j', (form) => {
    const growth = growthOf((length) => {
      const text = textOf(form, length)
      return () => parse(text)
    }, size)
    const seen =
      growth === undefined ? 'next to nothing' : `${growth.ratio.toFixed(1)} times, ${growth.ms.toFixed(0)} ms`
    expect(growth?.ratio ?? 0, `four times the text took ${seen}`).toBeLessThanOrEqual(RATIO_MAX)
  })
})

it('the measure itself tells linear from quadratic', () => {
  const walk = (steps: (length: number) => number) => (length: number) => () => {
    let sum = 0
    for (let step = steps(length); step > 0; step--) sum = Math.imul(sum ^ step, 31)
    return sum
  }
  const growth = (steps: (length: number) => number) => growthOf(walk(steps), 1_000)?.ratio
  expect(growth((length) => length * 20_000)).toBeLessThanOrEqual(RATIO_MAX)
  expect(growth((length) => length * length * 4)).toBeGreaterThan(RATIO_MAX)
})
