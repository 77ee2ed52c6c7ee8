// Every example of the page on playbooks is a playbook without a mistake, and ends as the page says. A worker that only knows
// the answers of the examples takes the commands.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { JsonValue } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { planOf } from '../../src/domain/playbook/planOf.js'
import { Run } from '../engine/run.js'

const page = readFileSync(new URL('../../docs/playbooks.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text as string)

interface Told {
  /** By command, without the id of the execution; what is not here is answered with nothing. */
  answers?: Record<string, JsonValue>
  failures?: Record<string, JsonValue>
  result: unknown
  entries: string[]
}

const TOLD: Record<string, Told> = {
  hello: { result: 'Hello world', entries: ['greet', 'end'] },
  join: {
    result: { reviewed: true, usd: 1320 },
    entries: ['start', 'record', 'review', 'convert', 'report'],
  },
  pages: { result: [1, 2, 3], entries: ['start', 'fetch', 'fetch', 'fetch', 'end'] },
  squares: { result: 14, entries: ['square', 'end'] },
  queue: {
    answers: {
      'work:1:c0': {
        rows: [
          { id: 1, url: 'http://a' },
          { id: 2, url: 'http://b' },
        ],
      },
      'work:1:c1': { rows: [] },
    },
    result: { frames: 1, rows: 2, failed: 0 },
    entries: ['work'],
  },
  pipeline: {
    answers: { 'copy:1': { fetch: {}, store: {}, _context_updates: { 'ctx.count': 2 } } },
    result: 2,
    entries: ['copy', 'end'],
  },
  compose: {
    answers: { 'start:1': { label: 'item one' }, 'child:1': 'Hello item one' },
    result: 'Hello item one',
    entries: ['start', 'child', 'end'],
  },
  failure: {
    failures: { 'charge:1': { kind: 'client_error', message: 'HTTP 402 response', http_status: 402 } },
    result: { status: 'ok', message: 'noop' },
    entries: ['charge', 'apologise', 'end', 'clean_up'],
  },
  report: { result: 'sent', entries: ['end'] },
}

it('has the examples that are told here', () => {
  expect(examples.map(nameOf)).toEqual(Object.keys(TOLD))
})

it.each(Object.entries(TOLD))('runs %s', (name, { answers = {}, failures = {}, result, entries }) => {
  const { plan, problems } = planOf(examples.find((text) => nameOf(text) === name) as string)
  expect(problems).toEqual([])
  const one = new Run(plan!).start()
  for (let rounds = 0; one.end === undefined; rounds++) {
    expect(rounds).toBeLessThan(50)
    const [command] = one.open()
    const short = (command ?? '').split(':').slice(1).join(':')
    if (failures[short] === undefined) one.done(command!, answers[short] ?? {})
    else one.failed(command!, failures[short])
    one.settle()
  }
  expect(JSON.parse(writeJson(one.end.result ?? null))).toEqual({ status: 'COMPLETED', context: { data: result } })
  expect(one.entries()).toEqual(entries)
})

function nameOf(text: string): string {
  return /name: (\w+)/.exec(text)?.[1] ?? ''
}
