// Promise: the events of an execution become one line per visit: loops with a bar, retries, skips with their reason, failures
// with their place and the last lines of standard error; what events say cannot steer the terminal.
import colors from 'picocolors'
import { expect, it } from 'vitest'
import { endLines } from '../../src/cli/run/report.js'
import { Story, type Visit } from '../../src/cli/run/story.js'
import { visitLine } from '../../src/cli/run/visitLine.js'
import type { JsonObject } from '../../src/domain/json/value.js'

const at = (ms: number): string => new Date(1_700_000_000_000 + ms).toISOString()
const event = (event_type: string, node_name: string, ms: number, more: JsonObject = {}): JsonObject => ({
  event_type,
  node_name,
  timestamp: at(ms),
  ...more,
})
const shown = (visit: Visit | undefined, nowMs = 0): string =>
  visitLine(visit!, { paint: colors.createColors(false), nameWidth: 8, width: 120, nowMs: 1_700_000_000_000 + nowMs })
const enter = (step: string, ms: number, context: JsonObject = {}): JsonObject =>
  event('step.enter', step, ms, { node_type: 'http', context, meta: { visit: 1 } })

it('shows a step with its time and data', () => {
  const story = new Story()
  story.tell(enter('fetch', 0))
  story.tell(event('command.issued', 'fetch', 0))
  story.tell(event('call.done', 'fetch', 9, { context: { result: { context: { data: { rows: 3 } } } } }))
  const visit = story.tell(event('step.exit', 'fetch', 12, { status: 'COMPLETED' }))
  expect(shown(visit)).toBe('  fetch     http          ok          12 ms  {"rows":3}')
})

it('shows the data of a pipeline without what it tells the engine to set', () => {
  const story = new Story()
  story.tell(enter('fetch', 0))
  const data = { rows: 3, _context_updates: { ctx: { n: 1 } } }
  story.tell(event('call.done', 'fetch', 9, { context: { result: { context: { data } } } }))
  expect(shown(story.tell(event('step.exit', 'fetch', 12, { status: 'COMPLETED' })))).toMatch(/ {"rows":3}$/)
})

it('shows a loop as a bar while it runs and as a count when it has ended', () => {
  const story = new Story()
  story.tell(enter('each', 0, { iterations_expected: 4, mode: 'parallel', max_in_flight: 2 }))
  let visit: Visit | undefined
  for (const ms of [10, 20, 30]) {
    story.tell(event('command.issued', 'each', ms))
    visit = story.tell(event('command.completed', 'each', ms))
  }
  expect(shown(visit, 1_500)).toContain('1.5 s  ███████████████░░░░░ 3/4')
  story.tell(event('command.failed', 'each', 40, { context: { error: { kind: 'exception', message: 'no' } } }))
  expect(shown(story.tell(event('step.exit', 'each', 50, { status: 'COMPLETED' })))).toContain(
    '3 done, 1 failed (max 2 at once)',
  )
})

it('knows a loop by its commands when the list was too large to come along', () => {
  const story = new Story()
  story.tell(event('step.enter', 'each', 0, { node_type: 'http', meta: { visit: 1 } }))
  for (const index of [0, 1]) {
    story.tell(event('command.issued', 'each', 1, { meta: { iteration_index: index, iteration_total: 2 } }))
    story.tell(event('call.done', 'each', 2, { context: { result: { context: { data: { n: index } } } } }))
    story.tell(event('command.completed', 'each', 3))
  }
  const visit = story.tell(event('step.exit', 'each', 5, { status: 'COMPLETED' }))
  expect(shown(visit)).toBe('  each      http x2       ok           5 ms  2 done')
})

it('says why a step was skipped, and what a worker notes meanwhile', () => {
  const story = new Story()
  const skipped = story.tell(event('step.skipped', 'other', 0, { node_type: 'noop', context: { reason: 'not_taken' } }))
  expect(shown(skipped)).toContain('skipped')
  expect(shown(skipped)).toContain('no arc leads here')
  story.tell(enter('fetch', 0))
  const noted = story.tell(
    event('command.heartbeat', 'fetch', 5, { context: { note: 'retry 2/3 after HTTP 503, 1 s' } }),
  )
  expect(shown(noted)).toContain('retry 2/3 after HTTP 503, 1 s')
})

it('ends a failure with its place, its kind and the end of standard error, none of which can steer a terminal', () => {
  const story = new Story()
  story.tell(enter('load', 0))
  const stderr = Array.from({ length: 30 }, (_, n) => `line ${n}\u001b[2J`).join('\n')
  const error = { kind: 'exception', message: 'exit code 3\u001b[2J' }
  story.tell(event('call.error', 'load', 5, { context: { error, result: { context: { stderr } } } }))
  story.tell(event('step.exit', 'load', 6, { status: 'FAILED', meta: { visit: 1 } }))
  story.tell(
    event('playbook.failed', 'playbook', 7, { error: 'step "load": exit code 3', context: { failed_steps: ['load'] } }),
  )
  const lines = endLines(story, story.ending!, {
    color: false,
    executionId: '1',
    pointerOf: () => '/workflow/2',
    next: 'noetl-cp execution show 1',
  })
  expect(lines[0]).toBe('FAILED in 7 ms, 1 step, 0 commands')
  expect(lines[1]).toBe('  step load (/workflow/2): exit code 3␛[2J [exception]')
  expect(lines).toHaveLength(2 + 1 + 20 + 1)
  expect(lines[3]).toBe('    line 10␛[2J')
  expect(lines.at(-1)).toBe('next: noetl-cp execution show 1')
})
