// Promise: nothing that others wrote reaches a terminal as more than text: no colours, no clearing, no line that passes
// for one of ours, whatever field it stands in.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../src/cli/output.js'
import { render } from '../../src/cli/render.js'
import { screen } from '../../src/cli/replay/walkScreen.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { writeJson } from '../../src/domain/json/write.js'
import { printable, printableJson, printableLines, printableMessage } from '../../src/runtime/printable.js'
import { readSources } from '../support/architecture.js'
import { cli } from '../support/cli.js'

const HOSTILE = 'a\x1b[2J\x1b]0;title\x07b\r\nFAKE line\u009b31m\u202etxt\x7f'
const CONTROL = /[\p{Cc}\u202e]/u
const hostileText = fc.string({
  unit: fc.constantFrom('a', ' ', '\n', '\r', '\x1b', '[2J', '\x07', '\u009b', '\u202e'),
})

const nowMs = Date.parse('2026-11-17T09:00:00Z')

const controlsOf = (text: string): string[] => text.match(new RegExp(CONTROL, 'gu')) ?? []

describe('the filter', () => {
  it('leaves no control character in a line, and all other text alone', () => {
    fc.assert(fc.property(hostileText, (text) => controlsOf(printable(text)).length === 0))
    fc.assert(fc.property(fc.string(), (text) => CONTROL.test(text) || printable(text) === text))
    expect(printable('\x1b[31m')).toBe('␛[31m')
  })

  it('leaves only line breaks and tabs in lines of our own', () => {
    fc.assert(fc.property(hostileText, (text) => controlsOf(printableLines(text)).every((found) => found === '\n')))
  })

  it('sets further lines of a message in', () => {
    expect(printableMessage('cannot\nnoetl-cp: all is well\n')).toBe('cannot\n  noetl-cp: all is well')
  })

  it('keeps a JSON document the same document', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = printableJson(writeJson({ [text]: text }))
        expect(controlsOf(shown)).toEqual([])
        expect(parseJson(shown)).toEqual({ [text]: text })
      }),
    )
  })
})

describe('a block', () => {
  const blocks: Block[] = [
    { kind: 'text', text: HOSTILE },
    { kind: 'lines', lines: [HOSTILE, 'second'] },
    {
      kind: 'record',
      title: HOSTILE,
      entries: [
        [HOSTILE, HOSTILE],
        ['name', { text: HOSTILE, tone: 'bad' }],
      ],
    },
    {
      kind: 'table',
      title: HOSTILE,
      columns: ['name', HOSTILE],
      rows: [
        [HOSTILE, 1],
        [{ text: HOSTILE, tone: 'dim' }, 2],
      ],
    },
    { kind: 'table', columns: ['name'], rows: [], empty: HOSTILE },
  ]
  it.each([undefined, 200, 40])('of any kind is plain lines, at width %s', (width) => {
    const text = render({ json: null, blocks }, { json: false, color: false, width, nowMs })
    expect(controlsOf(text).every((found) => found === '\n')).toBe(true)
    if (width !== 40) expect(text).not.toMatch(/^FAKE/m)
  })
  it('as JSON has no raw control character either', () => {
    const text = render({ json: { [HOSTILE]: [HOSTILE] }, blocks: [] }, { json: true, color: false, width: 80, nowMs })
    expect(controlsOf(text).every((found) => found === '\n')).toBe(true)
    expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE] })
  })
})

it('the screen of a walk shows events and changes as text', () => {
  const step = {
    index: 1,
    event: { event_id: '1', event_type: HOSTILE, node_name: HOSTILE, status: HOSTILE, created_at: HOSTILE },
    state: { execution: { status: HOSTILE, last_node_name: HOSTILE } },
    changes: [{ kind: 'added' as const, pointer: `/${HOSTILE}`, to: HOSTILE }],
  }
  const shown = screen(step, { length: 1, truncated: false, step: () => step } as never, false, 500)
  expect(controlsOf(shown).every((found) => found === '\n')).toBe(true)
  expect(shown).not.toMatch(/^FAKE/m)
})

it.each([
  [['execution', 'show', HOSTILE]],
  [['template', 'eval', `{{ ${HOSTILE} }}`]],
  [[HOSTILE]],
  [['status', `--${HOSTILE}`]],
  [['catalog', 'validate', `/nowhere/${HOSTILE}`]],
])('a message about %j is text', async (args) => {
  const { code, stdout, stderr } = await cli(args, { columns: 100, env: { NO_COLOR: '1' } })
  expect(code).not.toBe(0)
  expect(controlsOf(stdout + stderr).filter((found) => found !== '\n')).toEqual([])
})

it('whatever is printed passes the filter: only these files write to the streams themselves', () => {
  const writers = readSources()
    .filter(({ path, text }) => path.startsWith('cli/') && /\b(?:stdout|stderr|stream)\.write\(/.test(text))
    .map(({ path }) => path)
  expect(writers.sort()).toEqual([
    'cli/io.ts',
    'cli/main.ts',
    'cli/progress.ts',
    'cli/replay/walkScreen.ts',
    'cli/run/screen.ts',
    'cli/sink.ts',
    'cli/watchOutput.ts',
  ])
})
