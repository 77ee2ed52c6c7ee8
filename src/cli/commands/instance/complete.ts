import { KEYS, type Setting } from '../../../config/keys.js'
import { KEY_NAMES } from '../../../config/load.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { type Candidate, type Option, readCommandLine, type Wanted, wantedWords } from '../../completion/candidates.js'
import { knownNames } from '../../completion/known.js'

/** `commands` gives those that begin with this word, or for the first word a line of each group. */
export const completeOf = (commands: (word: string | undefined) => Promise<readonly CommandSpec[]>): CommandSpec => ({
  path: ['complete'],
  summary: 'Print what could stand in place of the last word, as completion scripts ask it',
  description:
    'The first line says "words", followed by one line per word with what it is, or "files", where the shell completes by itself.',
  args: [{ name: 'words', help: 'a command line without noetl-cp, behind --', optional: true, variadic: true }],
  examples: [['complete -- execution show 3', 'executions that begin with a 3']],
  run: async (context, { rest }) => {
    const line = readCommandLine(rest[0] === 'help' ? rest.slice(1) : rest)
    const wanted = wantedWords(line, await commands(line.before[0]), optionsOf)
    const words = (await candidatesOf(context, wanted)).filter(({ word }) => word.startsWith(line.current))
    const isLeftToShell = wanted.kind === 'values' && words.length === 0
    return {
      json: { files: isLeftToShell, words: words.map(({ word, help }) => ({ word, help })) },
      blocks: [
        {
          kind: 'lines',
          lines: [isLeftToShell ? 'files' : 'words', ...words.map(({ word, help }) => `${word} ${help}`)],
        },
      ],
    }
  },
})

async function candidatesOf(context: CommandContext, wanted: Wanted): Promise<readonly Candidate[]> {
  if (wanted.kind === 'words') return wanted.words
  const { of, before } = wanted
  if (of === undefined || of === 'file') return wanted.words
  const values = typeof of === 'string' ? await knownNames(context, of) : of.map((word) => ({ word, help: '' }))
  return [...wanted.words, ...values.map(({ word, help }) => ({ word: `${before}${word}`, help }))]
}

function optionsOf(spec: CommandSpec): Option[] {
  const own = (spec.options ?? []).map(
    ({ flags, help, completes }): Option => ({
      names: flags.split(/[ ,]+/).filter((word) => word.startsWith('-')),
      help,
      takesValue: flags.includes('<'),
      completes,
    }),
  )
  const refused = spec.localBecause === undefined ? [] : ['--url', '--token']
  const taken = new Set([...own.flatMap(({ names }) => names), ...refused])
  return [...own, ...COMMON, ...SETTINGS.filter(({ names }) => !names.some((name) => taken.has(name)))]
}

const COMMON: readonly Option[] = [
  flag(['--json'], 'print one JSON document instead of tables'),
  flag(['-q', '--quiet'], 'no remarks on standard error'),
  flag(['-h', '--help'], 'help for this command'),
  { names: ['--config'], help: 'settings from a YAML file', takesValue: true, completes: 'file' },
]

const SETTINGS: readonly Option[] = KEY_NAMES.flatMap((key) => {
  const { flag: name, help, parser }: Setting<unknown> = KEYS[key]
  if (name === undefined) return []
  const choices = parser.type.includes('|') ? parser.type.split('|') : undefined
  return [{ names: [`--${name}`], help, takesValue: parser.type !== 'boolean', completes: choices }]
})

function flag(names: readonly string[], help: string): Option {
  return { names, help, takesValue: false, completes: undefined }
}
