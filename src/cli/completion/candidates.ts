// Which words could stand in place of the last one of a command line: commands, options, values. Pure: names that only the
// instance knows are asked for by the caller.
import type { CommandSpec, Completes } from '../command.js'

export interface Candidate {
  word: string
  help: string
}

export interface Option {
  /** `--status`, `-f`. */
  names: readonly string[]
  help: string
  takesValue: boolean
  completes: Completes | undefined
}

export type Wanted =
  | { kind: 'words'; words: readonly Candidate[] }
  /** Of what the instance knows, or files; before each the text that is written already: `--execution=`. */
  | { kind: 'values'; of: Completes | undefined; before: string; words: readonly Candidate[] }

export interface CommandLine {
  /** Words before the one to complete. */
  before: readonly string[]
  current: string
}

/** bash breaks `--status=FA` into three words, others leave it whole. */
export function readCommandLine(words: readonly string[]): CommandLine {
  const joined = words.filter((word, at) => word !== '=' || at === words.length - 1)
  const current = joined.at(-1) ?? ''
  return { before: joined.slice(0, -1), current: current === '=' ? '' : current }
}

export function wantedWords(
  line: CommandLine,
  specs: readonly CommandSpec[],
  optionsOf: (spec: CommandSpec) => readonly Option[],
): Wanted {
  const { before, current } = line
  const found = commandOf(before, specs)
  const options = found.spec === undefined ? [] : optionsOf(found.spec)
  const pending = valueOption(before.at(-1), options)
  if (pending !== undefined) return { kind: 'values', of: pending.completes, before: '', words: [] }
  const assigned = /^(--[\w-]+=)/.exec(current)?.[1]
  if (assigned !== undefined) {
    return { kind: 'values', of: valueOption(assigned.slice(0, -1), options)?.completes, before: assigned, words: [] }
  }
  if (current.startsWith('-')) return { kind: 'words', words: options.flatMap(optionWords) }
  // Behind a word that belongs to no command nothing can follow, and behind an argument no word of a command.
  const words = found.rest.length > 0 ? [] : nextWords(found.path, specs)
  const argument = found.spec === undefined ? undefined : argumentAt(found.spec, operands(found.rest, options))
  if (argument === undefined) return { kind: 'words', words }
  return { kind: 'values', of: argument.completes, before: '', words }
}

interface Found {
  path: readonly string[]
  spec: CommandSpec | undefined
  /** What stands after the words of the command. */
  rest: readonly string[]
}

function commandOf(before: readonly string[], specs: readonly CommandSpec[]): Found {
  let length = 0
  while (length < before.length && startsOf(before.slice(0, length + 1), specs).length > 0) length += 1
  const path = before.slice(0, length)
  const spec = specs.find((candidate) => candidate.path.length === length && startsWith(candidate, path))
  return { path, spec, rest: before.slice(length) }
}

function nextWords(path: readonly string[], specs: readonly CommandSpec[]): Candidate[] {
  const words = new Map<string, string>()
  for (const { path: whole, summary } of startsOf(path, specs)) {
    const word = whole[path.length]
    if (word === undefined || words.has(word)) continue
    words.set(word, whole.length === path.length + 1 ? summary : `${word} …`)
  }
  return [...words].map(([word, help]) => ({ word, help }))
}

function startsOf(path: readonly string[], specs: readonly CommandSpec[]): CommandSpec[] {
  return specs.filter((spec) => startsWith(spec, path))
}

function startsWith(spec: CommandSpec, path: readonly string[]): boolean {
  return path.every((word, at) => spec.path[at] === word)
}

function valueOption(word: string | undefined, options: readonly Option[]): Option | undefined {
  return options.find(({ names, takesValue }) => takesValue && word !== undefined && names.includes(word))
}

/** How many arguments stand there already: neither options nor their values. */
function operands(rest: readonly string[], options: readonly Option[]): number {
  return rest.filter((word, at) => !word.startsWith('-') && valueOption(rest[at - 1], options) === undefined).length
}

function argumentAt(spec: CommandSpec, index: number) {
  const all = spec.args ?? []
  return all[index] ?? (all.at(-1)?.variadic === true ? all.at(-1) : undefined)
}

function optionWords({ names, help }: Option): Candidate[] {
  return names.filter((name) => name.startsWith('--')).map((word) => ({ word, help }))
}
