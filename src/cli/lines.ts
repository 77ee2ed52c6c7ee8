// Splits bytes into numbered lines of bounded length. Lines end with LF or CRLF; a byte order mark at the start and
// empty lines are skipped. A line that is not UTF-8 is handed over with its error; the other lines are not affected.
import { CpError } from '../errors.js'

export interface Line {
  /** From 1. */
  number: number
  /** Undefined when the bytes are no UTF-8. */
  text: string | undefined
}

export const LINE_BYTES_MAX = 64 * 1024 * 1024

const NEWLINE = 10

export async function* readLines(source: AsyncIterable<Buffer>, bytesMax = LINE_BYTES_MAX): AsyncIterable<Line> {
  let number = 0
  let begun: Buffer[] = []
  let size = 0
  const finish = (last: Buffer): Line | undefined => {
    const bytes = begun.length === 0 ? last : Buffer.concat([...begun, last])
    begun = []
    size = 0
    number += 1
    const text = decode(bytes)
    return text !== undefined && text.trim() === '' ? undefined : { number, text }
  }
  for await (const piece of source) {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      const line = finish(piece.subarray(start, end))
      if (line !== undefined) yield line
      start = end + 1
    }
    if (start === piece.length) continue
    size += piece.length - start
    if (size > bytesMax) throw new CpError('too_large', `line ${number + 1} is longer than ${bytesMax} bytes`)
    begun.push(piece.subarray(start))
  }
  if (begun.length > 0) {
    const line = finish(Buffer.alloc(0))
    if (line !== undefined) yield line
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.endsWith('\r') ? text.slice(0, -1) : text
  } catch {
    return undefined
  }
}
