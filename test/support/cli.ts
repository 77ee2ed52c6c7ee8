// Runs main() with captured streams: a subcommand as a user sees it, without a process.
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import type { Io } from '../../src/cli/io.js'
import { main } from '../../src/cli/main.js'

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface CliOptions {
  env?: Record<string, string>
  /** Standard input. */
  input?: string
  /** Width of a terminal; undefined is a pipe. */
  columns?: number
}

export async function cli(args: readonly string[], options: CliOptions = {}): Promise<Ran> {
  const out = capture(options.columns)
  const err = capture(options.columns)
  const io = Object.assign(new EventEmitter(), {
    stdout: out.stream,
    stderr: err.stream,
    stdin: Readable.from(options.input ? [Buffer.from(options.input)] : []),
    argv: ['node', '/usr/local/bin/noetl-cp'],
    getuid: () => 1000,
  }) as unknown as Io
  const code = await main(args, { HOME: '/nowhere', ...options.env }, io)
  return { code, stdout: out.text(), stderr: err.text() }
}

function capture(columns: number | undefined) {
  let text = ''
  const stream = new Writable({
    write: (chunk, _, done) => {
      text += chunk
      done()
    },
  })
  return { stream: Object.assign(stream, columns === undefined ? {} : { isTTY: true, columns }), text: () => text }
}
