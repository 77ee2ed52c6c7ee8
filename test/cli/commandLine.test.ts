// Promise: the pure parts of the command line — spans of time, lines of input, options — take what people
// write and name what is wrong.
import { describe, expect, it } from 'vitest'
import { inBatches } from '../../src/cli/batches.js'
import { formatAge, parseDuration, parseInstant } from '../../src/cli/duration.js'
import { readEntries } from '../../src/cli/eventLines.js'
import { readLines } from '../../src/cli/lines.js'
import { integerOption } from '../../src/cli/options.js'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import { formatCursor, parseCursor, pathPattern } from '../../src/domain/executions/executionPage.js'
import { cli } from '../support/cli.js'

const NOW = Date.UTC(2026, 10, 16, 2, 22, 39)

describe('spans of time', () => {
  it.each([
    ['90d', 90 * 86_400_000],
    ['12h', 12 * 3_600_000],
    ['15m', 900_000],
    ['30s', 30_000],
    ['2w', 14 * 86_400_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['0d', 0],
  ])('%s', (text, ms) => {
    expect(parseDuration(text, '--older-than')).toBe(ms)
  })

  it.each(['', '90', 'd', '-1d', '1 d', '90days', '1e3d', '99999999d', '٣d'])('%j is refused', (text) => {
    expect(() => parseDuration(text, '--older-than')).toThrow(/--older-than must be a span of time such as 90d/)
  })

  it('an instant is a time, a date or a span before now', () => {
    expect(parseInstant('2h', '--since', NOW)).toBe('2026-11-16T00:22:39.000000+00:00')
    expect(parseInstant('2026-11-01', '--since', NOW)).toBe('2026-11-01T00:00:00.000000+00:00')
    expect(parseInstant('2026-11-01T10:00:00+02:00', '--since', NOW)).toBe('2026-11-01T08:00:00.000000+00:00')
    expect(() => parseInstant('yesterday', '--since', NOW)).toThrow(/--since/)
    expect(() => parseInstant('', '--since', NOW)).toThrow(/--since/)
  })

  it.each([
    [0, '0 s ago'],
    [59_999, '59 s ago'],
    [180_000, '3 m ago'],
    [3_600_000, '1 h ago'],
    [86_400_000 * 3, '3 d ago'],
    [-1000, 'in the future'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatAge(wireTimeFromMillis(NOW - ms), NOW)).toBe(text)
  })
})

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of source) all.push(item)
  return all
}

async function* pieces(...list: (string | Buffer)[]): AsyncIterable<Buffer> {
  for (const piece of list) yield Buffer.from(piece as string)
}

describe('lines', () => {
  it('are numbered, whatever the pieces, with LF or CRLF, without empty ones and without a byte order mark', async () => {
    const lines = await collect(readLines(pieces('\ufeff{"a"', ':1}\r\n', '\n  \n{"b":2}\n{"c"', ':', '3}')))
    expect(lines).toEqual([
      { number: 1, text: '{"a":1}' },
      { number: 4, text: '{"b":2}' },
      { number: 5, text: '{"c":3}' },
    ])
  })

  it('a character cut in two by the pieces is whole again', async () => {
    const bytes = Buffer.from('"é"\n')
    const lines = await collect(readLines(pieces(bytes.subarray(0, 2), bytes.subarray(2))))
    expect(lines).toEqual([{ number: 1, text: '"é"' }])
  })

  it('no UTF-8 is said of one line, not of the others', async () => {
    const lines = await collect(readLines(pieces(Buffer.from([0xff, 10]), '1\n')))
    expect(lines).toEqual([
      { number: 1, text: undefined },
      { number: 2, text: '1' },
    ])
  })

  it('a line has a bound', async () => {
    await expect(collect(readLines(pieces('12345', '67890'), 8))).rejects.toThrow(/line 1 is longer than 8 bytes/)
  })
})

describe('entries', () => {
  const values = async (...list: string[]) => (await collect(readEntries(pieces(...list), 100))).map((entry) => entry)

  it('one per line, arrays item by item, a document over many lines as one', async () => {
    expect(await values('{"a":1}\n{"a":2}\n')).toMatchObject([
      { line: 1, value: { a: 1 } },
      { line: 2, value: { a: 2 } },
    ])
    expect(await values('[{"a":1},{"a":2}]')).toMatchObject([{ value: { a: 1 } }, { value: { a: 2 } }])
    expect(await values('{\n  "a": 1\n}\n')).toMatchObject([{ line: 1, value: { a: 1 } }])
    expect(await values('[\n {"a":1},\n {"a":2}\n]')).toMatchObject([{ value: { a: 1 } }, { value: { a: 2 } }])
  })

  it('ids keep every digit', async () => {
    expect(await values('{"execution_id":320816801799737345}')).toMatchObject([
      { value: { execution_id: 320816801799737345n } },
    ])
  })

  it('a bad line is named and the others are read', async () => {
    const entries = await values('{"a":1}\n{"a":}\n{"a":3}\n')
    expect(entries.map((entry) => [entry.line, entry.error?.code])).toEqual([
      [1, undefined],
      [2, 'invalid_input'],
      [3, undefined],
    ])
  })
})

describe('batches', () => {
  async function* slowly(...items: (number | 'pause')[]): AsyncIterable<number> {
    for (const item of items) {
      if (item === 'pause') await new Promise((resolve) => setTimeout(resolve, 200))
      else yield item
    }
  }

  it('are full while input is plenty, and small when it comes slowly', async () => {
    expect(await collect(inBatches(slowly(1, 2, 3, 4, 5), 2))).toEqual([[1, 2], [3, 4], [5]])
    expect(await collect(inBatches(slowly(1, 'pause', 2, 3, 'pause'), 10))).toEqual([[1], [2, 3]])
    expect(await collect(inBatches(slowly(), 2))).toEqual([])
  })

  it('an error of the source comes after what was read before it', async () => {
    async function* failing(): AsyncIterable<number> {
      yield 1
      throw new Error('broken')
    }
    const seen: number[][] = []
    await expect(
      (async () => {
        for await (const batch of inBatches(failing(), 1)) seen.push(batch)
      })(),
    ).rejects.toThrow('broken')
    expect(seen).toEqual([[1]])
  })
})

it('integer options are whole numbers within their bounds', () => {
  const read = (text: string) =>
    integerOption({ args: {}, rest: [], options: { limit: text } }, 'limit', { min: 1, max: 9 })
  expect(read('3')).toBe(3)
  for (const bad of ['0', '10', 'x', '1.5', '', '1e1'])
    expect(() => read(bad)).toThrow(/--limit must be a whole number/)
})

describe('pages of executions', () => {
  it('a cursor reads back, and another word is refused', () => {
    const position = { startTime: '2026-11-16T02:22:39.123456+00:00', executionId: '9223372036854775807' }
    expect(parseCursor(formatCursor(position))).toEqual(position)
    for (const bad of ['', 'x', Buffer.from('2026-11-16T02:22:39Z|').toString('base64url')])
      expect(() => parseCursor(bad)).toThrow(/cursor is not one of ours/)
  })

  it('a star at the end is any rest, everything else is literal', () => {
    expect(pathPattern('demo/*')).toBe('demo/%')
    expect(pathPattern('100%_a\\')).toBe('100\\%\\_a\\\\')
    expect(pathPattern('a*b')).toBe('a*b')
    expect(pathPattern(undefined)).toBeNull()
  })
})

describe('commands that need no server', () => {
  it('id inspect gives every digit back', async () => {
    const { code, stdout } = await cli(['id', 'inspect', '9223372036854775807', '--json'])
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        id: '9223372036854775807',
        timestamp: '2093-09-06T15:47:35.551000+00:00',
        machine_id: 1023,
        sequence: 4095,
        layout: 'app',
      },
    ])
  })

  it('id inspect recognises the database function', async () => {
    // EDGE 1.4: minted at one instant by the function and by us.
    const { stdout } = await cli(['id', 'inspect', '761042461220143106', '--json'])
    const found = JSON.parse(stdout)
    expect(found.layout === 'database' || found.alternative?.layout === 'database').toBe(true)
  })

  it.each(['-5', 'abc', '9223372036854775808', '01', ''])('id inspect %j is a usage error', async (id) => {
    const { code, stdout, stderr } = await cli(['id', 'inspect', '--', id])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('id must')
  })

  it('id new mints increasing ids with a machine id of its own range, and says so', async () => {
    const { code, stdout, stderr } = await cli(['id', 'new', '--count', '5000'])
    const ids = stdout.trimEnd().split('\n').map(BigInt)
    expect(code).toBe(0)
    expect(ids).toHaveLength(5000)
    for (let index = 1; index < ids.length; index++) expect(ids[index]! > ids[index - 1]!).toBe(true)
    const machine = Number((ids[0]! >> 12n) & 1023n)
    expect(machine).toBeGreaterThanOrEqual(1008)
    expect(stderr).toContain(`random machine id ${machine}`)
  })

  it.each([
    ['320816801799737345', 1024, 577],
    ['320816801799737344', 16, 14],
    ['9223372036854775807', 1024, 780],
    ['0', 3, 2],
    ['-1', 1024, 713],
    ['-9223372036854775808', 64, 32],
  ])('shard of %s among %i is %i', async (id, count, index) => {
    const { code, stdout } = await cli(['shard', 'of', '--count', String(count), '--json', '--', id])
    expect([code, JSON.parse(stdout)]).toEqual([0, { execution_id: id, shard_count: count, shard_index: index }])
  })

  it('shard of counts the configured databases, else the configured shares', async () => {
    const of = async (env: Record<string, string>) =>
      JSON.parse((await cli(['shard', 'of', '1', '--json'], { env })).stdout).shard_count
    expect(await of({})).toBe(1)
    expect(await of({ NOETL_SHARD_COUNT: '8' })).toBe(8)
    expect(await of({ NOETL_SHARDS: 'postgres://a@h/x,postgres://a@h/y,postgres://a@h/z' })).toBe(3)
  })

  it.each([
    ['--count', '0'],
    ['--count', '1025'],
    ['--count', 'x'],
  ])('shard of refuses %s %s', async (...options) => {
    expect((await cli(['shard', 'of', '1', ...options])).code).toBe(2)
  })

  it('retention and catalog delete do nothing without --yes', async () => {
    for (const args of [
      ['retention', '--older-than', '90d'],
      ['catalog', 'delete', 'a'],
    ]) {
      const { code, stderr } = await cli(args)
      expect(code).toBe(2)
      expect(stderr).toContain('--yes')
    }
    expect((await cli(['retention', '--yes'])).stderr).toContain('--older-than 90d')
  })
})
