// Promise: the items of a JSON list come out one by one and unchanged, wherever the bytes are cut, and a list that is
// broken says so instead of ending early.
import { describe, expect, it } from 'vitest'
import { isList, readItems } from '../../src/cli/jsonItems.js'

async function* inPieces(text: string, length: number): AsyncIterable<Buffer> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length)
}

async function itemsOf(text: string, length: number, bytesMax?: number): Promise<string[]> {
  const items: string[] = []
  for await (const item of readItems(inPieces(text, length), 'the list', bytesMax)) items.push(item)
  return items
}

const VALUES = [
  { text: 'a,b]c}"d\\', nested: [[], {}, [{ x: [1, 2] }]] },
  { é: '😀 "quoted" \\" [' },
  [],
  'bare ] text',
  -1.5e3,
  null,
]

describe('a list', () => {
  it.each([1, 2, 3, 7, 64, 10_000])('cut into pieces of %i bytes comes out whole', async (length) => {
    for (const text of [
      JSON.stringify(VALUES),
      JSON.stringify(VALUES, null, 2),
      `\ufeff\n ${JSON.stringify(VALUES)}\n`,
    ]) {
      expect((await itemsOf(text, length)).map((item) => JSON.parse(item))).toEqual(VALUES)
    }
  })

  it.each(['[]', ' [ ] ', '\ufeff[\n]'])('without items has none: %j', async (text) => {
    expect(await itemsOf(text, 1)).toEqual([])
  })

  it.each([
    ['[1, 2', /ends before its list does/],
    ['["a, 2]', /ends before its list does/],
    ['[1] [2]', /followed by more/],
    ['[1}', /ends with a brace/],
  ])('that is broken says how: %s', async (text, message) => {
    await expect(itemsOf(text, 2)).rejects.toThrow(message)
  })

  it('hands over an empty item, for its reader to refuse', async () => {
    expect(await itemsOf('[1,]', 3)).toEqual(['1', ''])
  })

  it('bounds the length of an item, not of the list', async () => {
    const items = new Array(100).fill('x'.repeat(50))
    expect(await itemsOf(JSON.stringify(items), 16, 60)).toHaveLength(100)
    await expect(itemsOf(JSON.stringify(['x'.repeat(100)]), 16, 60)).rejects.toMatchObject({ code: 'too_large' })
  })

  it('with bytes that are not text is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('["'), Buffer.from([0xff, 0xfe]), Buffer.from('"]')])
    async function* source() {
      yield bytes
    }
    await expect(readItems(source(), 'the list')[Symbol.asyncIterator]().next()).rejects.toThrow(/item 0 .* not UTF-8/)
  })
})

describe('the beginning', () => {
  it.each([
    ['[1]', true],
    ['\ufeff \n[1]', true],
    ['{"a": []}', false],
    ['', false],
    ['  \n', false],
  ])('of %j tells whether it is a list, and nothing of it is lost', async (text, expected) => {
    const looked = await isList(inPieces(text, 1))
    expect(looked.isList).toBe(expected)
    const pieces: Buffer[] = []
    for await (const piece of looked.source) pieces.push(piece)
    expect(Buffer.concat(pieces).toString()).toBe(text)
  })
})
