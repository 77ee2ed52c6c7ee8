// Splits the bytes of a JSON list into the texts of its items, one at a time: a list of any length passes through,
// and only one item is in memory. Only brackets and quotes are followed; the reader of an item decides whether it is
// valid JSON.
import { CpError } from '../errors.js'
import { LINE_BYTES_MAX } from './lines.js'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x5b
const BACKSLASH = 0x5c
const CLOSE = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** The bytes begin with `[`, but for white space and a byte order mark. */
export async function* readItems(
  source: AsyncIterable<Buffer>,
  name: string,
  bytesMax = LINE_BYTES_MAX,
): AsyncIterable<string> {
  let begun: Buffer[] = []
  let size = 0
  let index = 0
  let depth = 0
  let isQuoted = false
  let isEscaped = false
  let isEnded = false
  const finish = (last: Buffer): string => {
    const text = decode(Buffer.concat([...begun, last]), index, name)
    begun = []
    size = 0
    index += 1
    return text
  }
  for await (const piece of source) {
    let start = 0
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!
      if (isQuoted) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isQuoted = false
        continue
      }
      if (isEnded) {
        if (!isSpace(byte))
          throw new CpError('invalid_input', `${name} is not valid JSON: its list is followed by more`)
      } else if (byte === QUOTE) {
        isQuoted = true
      } else if (byte === OPEN || byte === OPEN_BRACE) {
        depth += 1
        if (depth === 1) start = at + 1
      } else if (byte === CLOSE || byte === CLOSE_BRACE) {
        depth -= 1
        if (depth > 0) continue
        if (byte !== CLOSE) throw new CpError('invalid_input', `${name} is not valid JSON: its list ends with a brace`)
        isEnded = true
        const text = finish(piece.subarray(start, at))
        if (index > 1 || text.trim() !== '') yield text
      } else if (byte === COMMA && depth === 1) {
        yield finish(piece.subarray(start, at))
        start = at + 1
      }
    }
    if (depth === 0 || start === piece.length) continue
    size += piece.length - start
    if (size > bytesMax) throw new CpError('too_large', `item ${index} of ${name} is longer than ${bytesMax} bytes`)
    begun.push(piece.subarray(start))
  }
  if (!isEnded) throw new CpError('invalid_input', `${name} is not valid JSON: it ends before its list does`)
}

/** Looks at the beginning without taking it away. */
export async function isList(
  source: AsyncIterable<Buffer>,
): Promise<{ isList: boolean; source: AsyncIterable<Buffer> }> {
  const pieces = source[Symbol.asyncIterator]()
  const seen: Buffer[] = []
  let first: number | undefined
  while (first === undefined) {
    const { done, value } = await pieces.next()
    if (done === true) break
    first = value.find((byte) => !isSpace(byte) && !BYTE_ORDER_MARK.includes(byte))
    seen.push(value)
  }
  async function* again(): AsyncIterable<Buffer> {
    yield* seen
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  return { isList: first === OPEN, source: again() }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

function decode(bytes: Buffer, index: number, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CpError('invalid_input', `item ${index} of ${name} is not UTF-8 text`)
  }
}
