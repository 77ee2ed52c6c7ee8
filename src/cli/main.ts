// main(argv, env, io) → exit code. Parses, runs one subcommand, renders its output, turns any error into one
// clear message and its exit code. Never touches the process itself; bin/ does that.

import { CommanderError } from 'commander'
import type { Environment } from '../config/load.js'
import { redactText } from '../domain/secrets/redact.js'
import { secretRules } from '../domain/secrets/secretNames.js'
import { type CpError, toCpError } from '../errors.js'
import { systemClock } from '../runtime/clock.js'
import { printableLines } from '../runtime/printable.js'
import { actOfCommand } from './commandAct.js'
import { COMMAND_GROUPS } from './commands/index.js'
import { createContext, type Ending } from './context.js'
import { EXIT, EXIT_OF } from './exit.js'
import { flushed, type Io, print, printJson, wantsColor } from './io.js'
import { buildProgram, type Invocation } from './program.js'
import { tellWaiting } from './progress.js'
import { notOverHttp } from './remote.js'
import { render } from './render.js'
import { outputWithoutSecrets } from './withoutSecrets.js'

export async function main(argv: readonly string[], env: Environment, io: Io): Promise<number> {
  let exitCode: number = EXIT.ok
  const outputFailure = watchOutputs(io)
  const called = calledWord(argv)
  const groups = COMMAND_GROUPS.map(async ({ word, summary, load }) => ({
    word,
    summary,
    specs: word === called ? await load() : undefined,
  }))
  const program = buildProgram(await Promise.all(groups), async (invocation) => {
    exitCode = await invoke(invocation, env, io)
  })
  const everyCommand = [program, ...allCommands(program)]
  for (const command of everyCommand) {
    command.exitOverride()
    command.configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Names what was typed, or pasted.
      outputError: (text, write) => write(printableLines(text)),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => wantsColor(io.stdout, env),
      getErrHasColors: () => wantsColor(io.stderr, env),
    })
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Asking for help is a success; `noetl-cp outbox` alone is not.
    exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  await Promise.all([flushed(io.stdout), flushed(io.stderr)])
  const failure = outputFailure()
  if (failure === undefined) return exitCode
  print(io.stderr, `noetl-cp: cannot write the output: ${failure.message}; choose another file or make room`)
  await flushed(io.stderr)
  return exitCode === EXIT.ok ? EXIT.failed : exitCode
}

/** `outbox` of `outbox drain` and of `help outbox drain`. */
function calledWord(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'))
  return words[0] === 'help' ? words[1] : words[0]
}

async function invoke(invocation: Invocation, env: Environment, io: Io): Promise<number> {
  const { spec, input, flags, isJson, isQuiet } = invocation
  const commandName = spec.path.join(' ')
  const { localBecause, doing } = spec
  const context = createContext({
    io,
    env,
    flags,
    isJson,
    isQuiet,
    commandName,
    localBecause,
    act: actOfCommand(spec, input),
  })
  let ending: Ending
  let endWaiting = (): void => undefined
  try {
    if (flags['url'] !== undefined && localBecause !== undefined) throw notOverHttp(commandName, localBecause)
    endWaiting = doing === undefined ? () => undefined : tellWaiting(context, () => doing)
    const output = await spec.run(context, input)
    endWaiting()
    if (typeof output === 'number') return output
    const rules = spec.showsAll === true ? null : context.secretRules()
    const shown = rules === null ? output : outputWithoutSecrets(output, rules)
    io.stdout.write(
      render(shown, {
        json: isJson,
        color: context.color,
        width: io.stdout.isTTY ? io.stdout.columns : undefined,
        nowMs: systemClock.now(),
      }),
    )
    if (!isQuiet) for (const note of shown.notes ?? []) print(io.stderr, note)
    return shown.exitCode ?? EXIT.ok
  } catch (thrown) {
    endWaiting()
    const error = toCpError(thrown)
    ending = error
    report(error, isJson, io, env)
    return EXIT_OF[error.code]
  } finally {
    await context.close(ending)
  }
}

/** Messages name fields and addresses; whatever the settings say, they never need a secret. */
const MESSAGE_RULES = secretRules()

function report(error: CpError, isJson: boolean, io: Io, env: Environment): void {
  const message = redactText(error.message, MESSAGE_RULES)
  if (isJson) printJson(io.stderr, { error: message, code: error.code })
  else print(io.stderr, `noetl-cp: ${message}`)
  // Our own mistakes come with a trail; expected failures only with their message.
  if (error.code === 'internal' && env['NOETL_CP_LOG_LEVEL'] === 'debug')
    print(io.stderr, String((error.cause as Error | undefined)?.stack ?? error.stack))
}

/** `noetl-cp events export 1 | head` ends quietly; what cannot be written for another reason is told. */
function watchOutputs(io: Io): () => NodeJS.ErrnoException | undefined {
  let failure: NodeJS.ErrnoException | undefined
  for (const stream of [io.stdout, io.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') failure ??= error
    })
  }
  return () => failure
}

function allCommands(command: ReturnType<typeof buildProgram>): ReturnType<typeof buildProgram>[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child as typeof command)]) as ReturnType<
    typeof buildProgram
  >[]
}
