// What a subcommand is: data plus one function. program.ts mounts a list of these on commander.

import type { LoadedConfig } from '../config/load.js'
import type { Deps } from '../daemon/deps.js'
import type { SecretRules } from '../domain/secrets/secretNames.js'
import type { Instance } from './instance.js'
import type { Io } from './io.js'
import type { Output } from './output.js'

/** What a shell offers for a value: names that the instance knows, files, or these words. */
export type Completes =
  | 'execution'
  | 'subscription'
  | 'path'
  | 'command'
  | 'credential'
  | 'pool'
  | 'file'
  | readonly string[]

export interface ArgumentSpec {
  name: string
  help: string
  optional?: boolean
  variadic?: boolean
  completes?: Completes
}

export interface OptionSpec {
  /** As commander writes it: `--limit <n>`, `-f, --follow`. */
  flags: string
  help: string
  default?: string
  /** May be given several times; the value is a list. */
  isRepeatable?: true
  completes?: Completes
  /** Says why something is done; it stands beside the act. */
  isWhy?: true
}

export interface Input {
  args: Readonly<Record<string, string>>
  /** Every word of a variadic argument. */
  rest: readonly string[]
  /** Option values by camelCase name; flags without a value are true. */
  options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
}

export interface CommandContext {
  io: Io
  env: Readonly<Record<string, string | undefined>>
  /** Settings, read once. Problems are thrown here and end as exit code 78. */
  config(): LoadedConfig
  /** The instance this command talks to: configured, or found running in the data folder. */
  instance(): Promise<Instance>
  /** Connections for it; opened on first use, closed when the command ends. */
  deps(): Promise<Deps>
  /** Before it acts through the API of a daemon: the act is on record, where the database is known. */
  recorded(): Promise<void>
  dataDir(): string
  /** What counts as a secret in what is shown; null shows everything. */
  secretRules(): SecretRules | null
  isJson: boolean
  isQuiet: boolean
  color: boolean
}

export interface CommandSpec {
  path: readonly string[]
  summary: string
  /** A paragraph for the help page. */
  description?: string
  args?: readonly ArgumentSpec[]
  options?: readonly OptionSpec[]
  /** Each: the command line after `noetl-cp`, and what it does. */
  examples: readonly (readonly [string, string])[]
  /** What it is doing, for a line on the terminal while it takes more than a second; without it the command shows its own. */
  doing?: string
  /** Changes the installation, or does when called like this: on record before it is done. A dry run is none. */
  changes?: true | ((input: Input) => boolean)
  /** Why it cannot work over --url; without it, it can. */
  localBecause?: string
  /** A source as its author wrote it, or masked by itself: secrets are not looked for. */
  showsAll?: boolean
  /** Answers what to show, or an exit code when the command has spoken for itself. */
  run(context: CommandContext, input: Input): Promise<Output | number>
}
