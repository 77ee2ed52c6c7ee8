// Standard streams, signals and arguments as one object, so that tests can run a subcommand without a process.
import type { Readable } from 'node:stream'
import type { JsonValue } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { printable, printableJson, printableMessage } from '../runtime/printable.js'
import type { SignalSource } from '../runtime/shutdown.js'

export interface Stream extends NodeJS.WritableStream {
  isTTY?: boolean
  columns?: number
}

export interface Io extends SignalSource {
  stdout: Stream
  stderr: Stream
  stdin: Readable & { isTTY?: boolean }
  /** Path of the running script, for hints on how to call us. */
  argv: string[]
  getuid?: () => number
}

/** A message. Standard output is data, standard error is everything else. */
export function print(stream: Stream, text: string): void {
  stream.write(`${printableMessage(text)}\n`)
}

/** Lines of our own making. */
export function printLines(stream: Stream, lines: readonly string[]): void {
  stream.write(lines.map((line) => `${printable(line)}\n`).join(''))
}

/** One JSON document on one line. */
export function printJson(stream: Stream, value: JsonValue): void {
  stream.write(`${printableJson(writeJson(value))}\n`)
}

export function wantsColor(stream: Stream, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0') return true
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** Resolves once everything written so far has left the process; a closed pipe counts as left. */
export function flushed(stream: Stream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve())
  })
}
