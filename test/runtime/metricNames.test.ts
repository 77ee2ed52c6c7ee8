// Promise: `promtool check metrics` has nothing to say about /metrics. Its rules, on what a daemon really exports.
import { expect, it } from 'vitest'
import { METRICS } from '../../src/daemon/metricTable.js'
import { createMetrics } from '../../src/runtime/metrics.js'

interface Exported {
  name: string
  kind: string
  help: string
}

function exportedIn(text: string): Exported[] {
  const helps = new Map([...text.matchAll(/^# HELP (\S+) ?(.*)$/gm)].map(([, name, help]) => [name!, help!]))
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => ({
    name: name!,
    kind: kind!,
    help: helps.get(name!) ?? '',
  }))
}

const ABBREVIATIONS = ['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'pb', 'm', 'h', 'd']
const PREFIXED = /^(pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mibi|giga|gibi|tera|tebi|peta|pebi)/
const BASE_UNITS = ['amperes', 'bytes', 'celsius', 'grams', 'joules', 'meters', 'moles', 'seconds', 'volts']
const OTHER_UNITS = ['minutes', 'hours', 'days', 'weeks', 'bits', 'kelvins', 'fahrenheit', 'calories', 'inches']

function complaints({ name, kind, help }: Exported): string[] {
  const words = name.split('_')
  const found: string[] = []
  const say = (wrong: boolean, what: string) => {
    if (wrong) found.push(`${name}: ${what}`)
  }
  say(help === '', 'no help text')
  say(kind === 'counter' && !name.endsWith('_total'), 'counter metrics should have "_total" suffix')
  say(kind !== 'counter' && name.endsWith('_total'), 'non-counter metrics should not have "_total" suffix')
  say(kind !== 'histogram' && name.endsWith('_bucket'), 'non-histogram metrics should not have "_bucket" suffix')
  say(/^(gauge|counter)$/.test(kind) && /_(count|sum)$/.test(name), 'should not have "_count" or "_sum" suffix')
  say(
    words.some((word) => ['counter', 'gauge', 'histogram', 'summary'].includes(word)),
    'metric name should not include type',
  )
  say(name.includes(':'), 'metric names should not contain ":"')
  say(/[a-z][A-Z]/.test(name), 'metric names should be written in snake_case')
  say(
    words.some((word) => ABBREVIATIONS.includes(word)),
    'metric names should not contain abbreviated units',
  )
  for (const word of words) {
    const isPrefixed = PREFIXED.test(word) && BASE_UNITS.includes(word.replace(PREFIXED, ''))
    say(isPrefixed || OTHER_UNITS.includes(word), `use the base unit instead of ${word}`)
  }
  return found
}

it('has nothing to say about what we export', async () => {
  const exported = exportedIn(await createMetrics(METRICS, { process: true }).render())
  expect(exported.map(({ name }) => name)).toContain('process_resident_memory_bytes')
  expect(exported.length).toBeGreaterThan(Object.keys(METRICS).length)
  expect(exported.flatMap(complaints)).toEqual([])
})

it.each([
  ['noetl_wait_ms', 'gauge', 'abbreviated'],
  ['noetl_wait_milliseconds', 'gauge', 'base unit'],
  ['noetl_events', 'counter', '"_total"'],
  ['noetl_events_total', 'gauge', '"_total"'],
  ['noetl_events_count', 'gauge', '"_count"'],
  ['noetl_gauge', 'gauge', 'type'],
])('would say something about %s (%s)', (name, kind, what) => {
  expect(complaints({ name, kind, help: 'x' }).join()).toContain(what)
})
