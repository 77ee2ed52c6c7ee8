// Promise: a table fits its terminal with one line per row, ids whole and wide characters counted as they are shown; sentences
// break instead of being cut, and a pipe gets everything.
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { type Block, type Output, toned } from '../../src/cli/output.js'
import { render } from '../../src/cli/render.js'
import { wrapText, wrapWords } from '../../src/cli/tableLayout.js'
import { clockTime } from '../../src/cli/tableTime.js'
import { cutText } from '../../src/cli/textWidth.js'

describe('tables', () => {
  const nowMs = Date.parse('2026-11-17T09:00:00Z')
  const sentence = 'a rather long text that will not fit on a narrow terminal at all'
  const table = (more: Partial<Extract<Block, { kind: 'table' }>> = {}): Output => ({
    json: null,
    blocks: [
      {
        kind: 'table',
        columns: ['id', 'text', 'worker', 'next attempt at'],
        rows: [
          ['9223372036854775807', sentence, null, '2026-11-17T06:10:29.208123+00:00'],
          [null, true, '', '2026-11-16T06:10:29.208123+00:00'],
        ],
        ...more,
      },
      { kind: 'table', columns: ['a'], rows: [], empty: 'none yet' },
    ],
  })
  const shown = (output: Output, width: number | undefined) =>
    render(output, { json: false, color: false, width, nowMs })
  const widest = (text: string) => Math.max(...text.split('\n').map(stringWidth))

  it('have one line per row on a narrow terminal: ids whole, clock times, no empty columns', () => {
    expect(shown(table(), 62).split('\n')).toEqual([
      'id                   text                         next attempt',
      '                                                  at',
      '9223372036854775807  a rather long text that wi…  06:10:29Z',
      '                     true                         11-16 06:10Z',
      '',
      '  none yet',
      '',
    ])
  })
  it('are never cut in a pipe, where every column and digit stays', () => {
    const piped = shown(table(), undefined)
    expect(piped).toContain(`│ 9223372036854775807 │ ${sentence} │        │ 2026-11-17T06:10:29.208123+00:00 │`)
    expect(piped).toContain('worker')
  })
  it('break sentences that must be read into lines, without losing a character', () => {
    const text = shown(table({ isProse: true }), 62)
    expect(widest(text)).toBeLessThanOrEqual(62)
    expect(text.replace(/[^a-z]/g, '')).toContain('aratherlong')
    expect(text).not.toContain('…')
    for (const word of sentence.split(' ')) expect(text).toContain(word)
  })
  it.each([undefined, 120, 80, 60, 40])('count wide characters as two columns, at width %s', (width) => {
    const rows = [
      ['380600506281541632', '受注/日次レポート/とても長い名前の仕事', 'ok'],
      ['380600506281541633', 'orders/👍🏽/daily', 'ok'],
    ]
    for (const isProse of [false, true]) {
      const text = shown(
        { json: null, blocks: [{ kind: 'table', columns: ['id', 'path', 'state'], rows, isProse }] },
        width,
      )
      if (width !== undefined) expect(widest(text)).toBeLessThanOrEqual(width)
      if (width === undefined || width >= 80) expect(text).toContain('受注/日次レポート/とても長い名前の仕事')
      // The last column begins in the same place in every row.
      const places = text
        .split('\n')
        .filter((line) => line.includes('ok'))
        .map((line) => stringWidth(line.slice(0, line.lastIndexOf('ok'))))
      expect(new Set(places).size).toBe(1)
    }
  })
  it('leave spare columns out, as many as must go', () => {
    const rows = [['380600506281541632', 'demo/import-orders', 'store', 'playbook.completed']]
    const columns = ['execution', 'path', 'step', 'last event']
    const spare = ['last event', 'step']
    const at = (width: number) => shown({ json: null, blocks: [{ kind: 'table', columns, rows, spare }] }, width)
    expect(at(80)).toContain('playbook.completed')
    expect(at(60)).toBe('execution           path                step\n380600506281541632  demo/import-orders  store\n')
    expect(at(30)).toBe('execution           path\n380600506281541632  …rt-orders\n')
  })
  it('cut a path at its beginning, and everything else at its end', () => {
    expect(cutText('reports/sales/daily', 10)).toBe('…les/daily')
    expect(cutText('no such table', 8)).toBe('no such…')
    expect(cutText('日次レポート', 7)).toBe('日次レ…')
    expect(cutText('受注/日次レポート', 7)).toBe('…ポート')
  })
  it('look the same with colours as without: no escape sequence is counted or cut', () => {
    const row = ['380600506281541632', toned('COMPLETED', 'good'), 'demo/import-orders', 'subscription.registered']
    const coloured: Output = {
      json: null,
      blocks: [
        { kind: 'table', columns: ['execution', 'status', 'path', 'last event'], rows: [row, row] },
        {
          kind: 'record',
          title: 'About',
          entries: [['advice', toned('a power cut may lose the last messages', 'warn')]],
        },
      ],
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
    const bare = (text: string) => text.replace(/\x1b\[\d+m/g, '')
    for (const columns of [undefined, 100, 80, 72, 60, 40, 30]) {
      const plain = shown(coloured, columns)
      const painted = render(coloured, { json: false, color: true, width: columns, nowMs })
      expect(bare(painted)).toBe(plain)
      expect(painted).not.toBe(plain)
      if (columns !== undefined && columns >= 60) expect(widest(plain)).toBeLessThanOrEqual(columns)
      // Ids are there to be copied, statuses to be read.
      expect(plain).toContain('380600506281541632')
      if (columns === undefined || columns >= 60) expect(plain).toContain('COMPLETED')
    }
  })
  it('break names at their joints, and words between them', () => {
    expect(wrapText('subscription.registered', 14)).toEqual(['subscription.', 'registered'])
    expect(wrapText('demo/import-orders', 10)).toEqual(['demo/', 'import-', 'orders'])
    expect(wrapText('a dozen or so\nlines', 7)).toEqual(['a dozen', 'or so', 'lines'])
    expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
    expect(wrapText('', 4)).toEqual([''])
    expect(wrapText('2026-11-16T06:10:29.208Z', 14)).toEqual(['2026-11-16T', '06:10:29.208Z'])
    expect(wrapText('日次レポート', 5)).toEqual(['日次', 'レポ', 'ート'])
    expect(wrapWords('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrapWords('averylongword', 4)).toEqual(['averylongword'])
  })
  it('show times to the millisecond where there is room', () => {
    const times: Output = {
      json: null,
      blocks: [{ kind: 'table', columns: ['at'], rows: [['2026-11-16T06:10:29.208123+00:00']] }],
    }
    expect(shown(times, 80)).toContain('│ 2026-11-16T06:10:29.208Z │')
    expect(shown(times, undefined)).toContain('2026-11-16T06:10:29.208123+00:00')
    expect(clockTime('2025-11-16T06:10:29.208123+00:00', nowMs)).toBe('2025-11-16 06:10Z')
  })
  it('survive a terminal narrower than anything', () => {
    expect(() => render(table(), { json: false, color: true, width: 5, nowMs })).not.toThrow()
  })
})
