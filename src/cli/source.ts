// Input of a subcommand: a named file, or standard input for none and for "-".
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { CpError, messageOf } from '../errors.js'
import type { CommandContext } from './command.js'

/** In pieces. A file that cannot be opened fails with the first piece. */
export function openSource(context: CommandContext, path: string | undefined): AsyncIterable<Buffer> {
  if (path !== undefined && path !== '-') return readPieces(path)
  if (context.io.stdin.isTTY === true) {
    throw new CpError('invalid_input', 'nothing to read: name a file, or pipe the input to standard input')
  }
  return toBuffers(context.io.stdin)
}

/** Whole, as text. */
export async function readSource(context: CommandContext, path: string, bytesMax: number): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of openSource(context, path)) {
    size += piece.length
    if (size > bytesMax) throw new CpError('too_large', `${nameOf(path)} is larger than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))
  } catch {
    throw new CpError('invalid_input', `${nameOf(path)} is not UTF-8 text`)
  }
}

export function nameOf(path: string | undefined): string {
  return path === undefined || path === '-' ? 'standard input' : path
}

async function* readPieces(path: string): AsyncIterable<Buffer> {
  // An empty or missing file and a folder fail in different ways; one question gives one answer.
  try {
    for await (const piece of createReadStream(path)) yield piece as Buffer
  } catch (error) {
    throw unreadable(path, error)
  }
}

async function* toBuffers(stream: AsyncIterable<Buffer | string>): AsyncIterable<Buffer> {
  for await (const piece of stream) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

function unreadable(path: string, error: unknown): CpError {
  if (error instanceof CpError) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT') return new CpError('invalid_input', `there is no file ${path}`)
  return new CpError('invalid_input', `cannot read ${path}: ${messageOf(error)}`, { cause: error })
}

/** For small files given as an option value. */
export async function readOptionFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error)
  }
}
