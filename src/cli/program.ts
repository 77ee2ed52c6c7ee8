// Mounts the list of subcommands on commander. Help, common options, examples and did-you-mean come free.
import { Command, Option } from 'commander'
import { KEYS, type Setting } from '../config/keys.js'
import { KEY_NAMES } from '../config/load.js'
import { VERSION } from '../version.js'
import type { CommandSpec, Input } from './command.js'

export interface Invocation {
  spec: CommandSpec
  input: Input
  /** Settings given as flags, by flag name. */
  flags: Record<string, string | undefined>
  isJson: boolean
  isQuiet: boolean
}

const EXAMPLE_LENGTH = 38

/** The words below the first: `outbox dead list`. */
const INNER_GROUPS: Readonly<Record<string, string>> = { dead: 'Rows that were given up' }

/** A group of commands; `specs` is undefined where another group is called and a line of help is all that is needed. */
export interface MountedGroup {
  word: string
  summary: string
  specs: readonly CommandSpec[] | undefined
}

export function buildProgram(
  groups: readonly MountedGroup[],
  onInvoke: (invocation: Invocation) => Promise<void>,
): Command {
  const program = new Command('noetl-cp')
    .description('Event-sourced control plane for workflow executions: daemon and admin tool in one.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand(false)
    // So that `catalog get --version 2` is the entry's version and not ours.
    .enablePositionalOptions()
    .configureHelp({ sortSubcommands: false })
    .showHelpAfterError('see "noetl-cp --help" (options go after the command)')
    .addHelpText(
      'after',
      '\nExamples:\n  noetl-cp serve                 start a daemon with its own Postgres and NATS\n  noetl-cp demo                  something to look at, in another terminal\n  noetl-cp status                one screen about the running instance\n  noetl-cp help status           more about one command\n\nExit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 refused, 5 difference found,\n69 dependency unavailable, 75 work remains, 78 bad configuration, 130/143 forced by signal.',
    )
  for (const { word, summary, specs } of groups) {
    program.command(word).summary(summary).description(summary)
    for (const spec of specs ?? []) mount(program, spec, onInvoke)
  }
  addHelpCommand(program)
  return program
}

/** Commander's own knows only the first word: `help outbox drain` would show the page of the group. */
function addHelpCommand(program: Command): void {
  const help = program.command('help').argument('[command...]', 'its name, in one or more words')
  help.description('help for a command').action((words: string[]) => {
    let page = program
    for (const [index, word] of words.entries()) {
      const next = page.commands.find((command) => command.name() === word)
      if (next === undefined) {
        help.error(`error: unknown command '${words.slice(0, index + 1).join(' ')}'`, {
          code: 'commander.unknownCommand',
        })
        return
      }
      page = next
    }
    page.help()
  })
}

function mount(program: Command, spec: CommandSpec, onInvoke: (invocation: Invocation) => Promise<void>): void {
  let parent = program
  for (const name of spec.path.slice(0, -1)) {
    const existing = parent.commands.find((command) => command.name() === name)
    parent = existing ?? parent.command(name).description(INNER_GROUPS[name] ?? name)
  }
  const name = spec.path[spec.path.length - 1]!
  // A group may also be a command of its own: `replay <id>` beside `replay diff`.
  const existing = parent.commands.find((command) => command.name() === name)
  const command = existing ?? parent.command(name)
  // Options after the name of a subcommand are its own, also where the group has the same ones.
  command.enablePositionalOptions()
  command.summary(spec.summary).description(spec.description ?? `${spec.summary}.`)
  for (const argument of spec.args ?? []) {
    const inner = argument.variadic === true ? `${argument.name}...` : argument.name
    command.argument(argument.optional === true ? `[${inner}]` : `<${inner}>`, argument.help)
  }
  for (const { flags, help, default: value, isRepeatable } of spec.options ?? []) {
    if (isRepeatable === true) command.option(flags, help, (one: string, before: string[]) => [...before, one], [])
    else command.option(flags, help, value)
  }
  command.showHelpAfterError(`see "noetl-cp ${spec.path.join(' ')} --help"`)
  addCommonOptions(command, spec.localBecause !== undefined)
  const examples = spec.examples.map(([line, what]) => exampleOf(line, what))
  command.addHelpText('after', `\nExamples:\n${examples.join('\n')}`)
  command.action(async (...received: unknown[]) => {
    await onInvoke(readInvocation(spec, received.slice(0, -2), command.opts()))
  })
}

/** Pasted as it stands it does what it says: what is said about it is a comment. */
function exampleOf(line: string, what: string): string {
  if (line.length > EXAMPLE_LENGTH) return `  # ${what}\n  noetl-cp ${line}`
  return `  noetl-cp ${line.padEnd(EXAMPLE_LENGTH)}  # ${what}`
}

/** Options that only say where a daemon is; a command that works without one takes them to refuse them with its reason. */
const REMOTE_FLAGS: ReadonlySet<string> = new Set(['--url', '--token'])

function addCommonOptions(command: Command, isLocal: boolean): void {
  command.option('--json', 'print one JSON document instead of tables')
  command.option('-q, --quiet', 'no remarks on standard error')
  const taken = new Set(command.options.map((option) => option.long))
  const settings: [string, string][] = [['--config <file>', 'settings from a YAML file']]
  for (const key of KEY_NAMES) {
    const setting: Setting<unknown> = KEYS[key]
    if (setting.flag === undefined) continue
    const value = setting.parser.type === 'boolean' ? '' : ' <value>'
    settings.push([`--${setting.flag}${value}`, setting.help])
  }
  for (const [flags, help] of settings) {
    const name = flags.split(' ')[0]!
    if (taken.has(name)) continue
    command.addOption(new Option(flags, help).hideHelp(isLocal && REMOTE_FLAGS.has(name)).helpGroup('Settings:'))
  }
}

function readInvocation(spec: CommandSpec, received: unknown[], options: Record<string, unknown>): Invocation {
  const args: Record<string, string> = {}
  let rest: string[] = []
  for (const [index, argument] of (spec.args ?? []).entries()) {
    const value = received[index]
    if (argument.variadic === true) rest = (value as string[] | undefined) ?? []
    else if (typeof value === 'string') args[argument.name] = value
  }
  const flags: Record<string, string | undefined> = {}
  for (const name of ['config', ...KEY_NAMES.map((key) => (KEYS[key] as Setting<unknown>).flag)]) {
    if (name === undefined) continue
    const value = options[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]
    if (typeof value === 'string') flags[name] = value
    else if (value === true) flags[name] = 'true'
  }
  return {
    spec,
    input: { args, rest, options: options as Input['options'] },
    flags,
    isJson: options['json'] === true,
    isQuiet: options['quiet'] === true,
  }
}
