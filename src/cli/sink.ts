// Output of a streaming subcommand: standard output or a file, written as fast as the reader takes it. A file
// appears under its name only when it is complete; a device or a pipe that has the name is written into, never replaced. A pipe that the reader closes is not an error; it is the end.

import { once } from 'node:events'
import { createWriteStream, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { CpError, messageOf } from '../errors.js'
import { printableLines } from '../runtime/printable.js'
import type { CommandContext } from './command.js'

export interface Sink {
  /** False once nobody reads any more. */
  write(text: string): Promise<boolean>
  isClosed(): boolean
  /** Completes the file. */
  finish(): Promise<void>
  /** Removes what was written of the file. */
  discard(): Promise<void>
}

export function openSink(context: CommandContext, path: string | undefined): Sink {
  return path === undefined || path === '-' ? toStdout(context) : toFile(path)
}

function toStdout(context: CommandContext): Sink {
  const { stdout } = context.io
  let closed = false
  const onClosed = (): void => {
    closed = true
  }
  stdout.on('error', onClosed)
  stdout.on('close', onClosed)
  return {
    write: async (text) => {
      if (closed) return false
      // A pipe gets the bytes as they are.
      if (!stdout.write(stdout.isTTY === true ? printableLines(text) : text))
        await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(onClosed)
      return !closed
    },
    isClosed: () => closed,
    finish: async () => undefined,
    discard: async () => undefined,
  }
}

function toFile(path: string): Sink {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true
  const partial = isFile ? `${path}.part` : path
  const stream = createWriteStream(partial)
  let failure: CpError | undefined
  stream.on('error', (error) => {
    failure = new CpError('invalid_input', `cannot write ${path}: ${messageOf(error)}`, { cause: error })
  })
  const check = (): void => {
    if (failure !== undefined) throw failure
  }
  return {
    write: async (text) => {
      check()
      if (!stream.write(text)) await once(stream, 'drain').catch(() => undefined)
      check()
      return true
    },
    isClosed: () => false,
    finish: async () => {
      await new Promise<void>((resolve) => stream.end(resolve))
      check()
      if (isFile) await rename(partial, path)
    },
    discard: async () => {
      stream.destroy()
      if (isFile) await rm(partial, { force: true })
    },
  }
}
