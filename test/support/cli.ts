// Runs main() with captured streams: a subcommand as a user sees it, without a process.
// `cli` runs the sources; `builtCli` runs the build, which has the threads that replay and state commands need. Both
// save the 0.7 s of processor time that a new process takes; `runBinary` is for what only a process shows (signals,
// NODE_OPTIONS, time zones, bin/).
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import type { Io } from '../../src/cli/io.js'
import { main } from '../../src/cli/main.js'

const BUILT_MAIN = new URL('../../dist/cli/main.js', import.meta.url).href

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface CliOptions {
  env?: Record<string, string | undefined>
  /** Standard input. */
  input?: string
  /** Width of a terminal; undefined is a pipe. */
  columns?: number
}

export function cli(args: readonly string[], options: CliOptions = {}): Promise<Ran> {
  return runMain(main, args, options)
}

export async function builtCli(args: readonly string[], options: CliOptions = {}): Promise<Ran> {
  // Not part of the sources, so its name is not a literal.
  const built: { main: typeof main } = await import(BUILT_MAIN)
  return runMain(built.main, args, options)
}

async function runMain(run: typeof main, args: readonly string[], options: CliOptions): Promise<Ran> {
  const out = capture(options.columns)
  const err = capture(options.columns)
  const io = Object.assign(new EventEmitter(), {
    stdout: out.stream,
    stderr: err.stream,
    stdin: Readable.from(options.input ? [Buffer.from(options.input)] : []),
    argv: ['node', '/usr/local/bin/noetl-cp'],
    getuid: () => 1000,
  }) as unknown as Io
  const code = await run(args, { HOME: '/nowhere', ...options.env }, io)
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
