import { writeFile } from 'node:fs/promises'
import { type DerivedSettings, describeSettings, type SettingView } from '../../../config/describe.js'
import { KEYS, type Setting } from '../../../config/keys.js'
import { KEY_NAMES } from '../../../config/load.js'
import { derivedSettings } from '../../../daemon/derivedSettings.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { readRuntimeFile } from '../../../embedded/runtimeFile.js'
import { CpError, messageOf, toCpError } from '../../../errors.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { type ToneCell, toned } from '../../output.js'
import { type RemoteClient, thereOrHere } from '../../remote.js'

export const configShow: CommandSpec = {
  path: ['config', 'show'],
  showsAll: true,
  summary: 'Print settings with the values in use and where they came from',
  description:
    'Prints every setting with the value that a daemon uses and where it came from, with --url those of that daemon; secrets are masked. Flag beats environment beats file beats default. Where a setting leaves its value open it is found as the daemon finds it: numbers of threads from the cores, addresses from the daemon that runs in the data folder. With a filter only those whose name, variable, group or help holds the text.',
  args: [{ name: 'filter', help: 'part of a name, a variable, a group or the help', optional: true }],
  examples: [
    ['config show', 'all settings'],
    ['config show nats', 'those about NATS'],
    ['config show --json', 'the same for programs'],
  ],
  run: async (context, input) => {
    const notes: string[] = []
    const known = await thereOrHere<readonly ShownSetting[]>(context, settingsRemotely, async () => {
      const derived = await derivedHere(context).catch((error: unknown) => {
        // What cannot be found is left open; `config check` fails for it.
        notes.push(`warning: ${toCpError(error).message}`)
        return {}
      })
      return describeSettings(context.config(), derived)
    })
    const settings = matching(known, input.args['filter'])
    return {
      json: Object.fromEntries(
        settings.map(({ name, value, source, from, because, env }) => [name, { value, source, from, because, env }]),
      ),
      blocks: [
        {
          kind: 'table',
          columns: ['setting', 'value', 'origin', 'environment'],
          spare: ['environment'],
          rows: settings.map((setting) => [setting.name, setting.value, originCell(setting), setting.env]),
        },
      ],
      notes,
    }
  },
}

async function derivedHere(context: CommandContext): Promise<DerivedSettings> {
  const dataDir = context.dataDir()
  return derivedSettings(context.config(), { dataDir, servers: await readRuntimeFile(dataDir) })
}

function originCell({ source, from, because }: ShownSetting): ToneCell | string {
  if (source === 'default') return toned(because ?? 'default', 'dim')
  return because === null ? `${source} ${from}` : `${source} ${from}; ${because}`
}

type ShownSetting = Omit<SettingView, 'isSecret'>

/** Those of the daemon, as it started. */
async function settingsRemotely(remote: RemoteClient): Promise<readonly ShownSetting[]> {
  return (await remote.call('getSettings', {})).settings as readonly ShownSetting[]
}

function matching(settings: readonly ShownSetting[], filter: string | undefined): readonly ShownSetting[] {
  if (filter === undefined) return settings
  const wanted = filter.toLowerCase()
  const found = settings.filter(({ name, env, group, help }) =>
    [name, env, group, help].some((text) => text.toLowerCase().includes(wanted)),
  )
  if (found.length > 0) return found
  throw new CpError('not_found', `no setting has ${JSON.stringify(filter)} in its name, variable, group or help`)
}

export const configCheck: CommandSpec = {
  path: ['config', 'check'],
  localBecause: 'it checks the settings of this machine',
  summary: 'Check the settings without starting anything',
  description: 'Reads flags, environment and file as the daemon would. Exit code 78 with every problem at once.',
  examples: [['config check --config noetl-cp.yaml', 'before it is rolled out']],
  run: async (context) => {
    const { origins, warnings } = context.config()
    // Finds what only shows when the settings are put together, such as a list of databases that contradicts itself.
    await derivedHere(context)
    const given = KEY_NAMES.filter((key) => origins[key].source !== 'default').length
    return {
      json: { ok: true, given, warnings },
      blocks: [{ kind: 'text', text: `the settings are good: ${given} given, the rest are defaults` }],
    }
  },
}

export const configInit: CommandSpec = {
  path: ['config', 'init'],
  localBecause: 'it needs no instance',
  showsAll: true,
  summary: 'Write a settings file with every setting, explained and switched off',
  description:
    'Prints it, or writes it to a file that does not exist yet. Use the file with --config or NOETL_CP_CONFIG.',
  args: [{ name: 'file', help: 'where to write it', completes: 'file', optional: true }],
  examples: [
    ['config init noetl-cp.yaml', 'a file to edit'],
    ['config init | less', 'to look at'],
  ],
  run: async (_, input) => {
    const lines = template()
    const { file } = input.args
    if (file === undefined) return { json: { content: lines.join('\n') }, blocks: [{ kind: 'lines', lines }] }
    // It may come to hold secrets.
    await writeFile(file, `${lines.join('\n')}\n`, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
      const isThere = (error as { code?: string }).code === 'EEXIST'
      const reason = isThere ? 'it exists already; choose another name, or remove it' : messageOf(error)
      throw new CpError('refused', `${file} cannot be written: ${reason}`, { cause: error })
    })
    return { json: { file }, blocks: [{ kind: 'text', text: `wrote ${file}; use it with --config ${file}` }] }
  },
}

function template(): string[] {
  const lines = [
    '# yaml-language-server: $schema=./noetl-cp.schema.json',
    '# noetl-cp config schema > noetl-cp.schema.json',
  ]
  let group = ''
  for (const key of KEY_NAMES) {
    const setting: Setting<unknown> = KEYS[key]
    if (setting.group !== group) lines.push('', `# ${setting.group}`)
    group = setting.group
    lines.push('', `# ${setting.help} (${setting.parser.type}; ${setting.env})`)
    lines.push(`#${key}: ${setting.default === undefined ? '' : textOf(setting.default)}`.trimEnd())
  }
  return lines
}

function textOf(value: unknown): string {
  return JSON.stringify(Array.isArray(value) ? value.join(',') : value)
}

/** What an editor may offer and mark; the loader says the rest. */
function shapeOf(type: string): JsonObject {
  const words = type.split('|')
  if (words.length > 1 && words.every((word) => /^[\w-]+$/.test(word))) return { enum: words }
  if (type === 'boolean') return { type: 'boolean' }
  if (/^(integer|seconds|port)/.test(type)) return { type: 'number' }
  return { type: ['string', 'number', 'array'] }
}

export const configSchema: CommandSpec = {
  path: ['config', 'schema'],
  localBecause: 'it needs no instance',
  showsAll: true,
  summary: 'Print the JSON Schema of the settings file, for editors',
  examples: [['config schema > noetl-cp.schema.json', 'beside the file that config init wrote']],
  run: async () => {
    const properties: JsonObject = {}
    for (const key of KEY_NAMES) {
      const { help, env, parser }: Setting<unknown> = KEYS[key]
      properties[key] = {
        description: `${help} (${parser.type}; ${env})`,
        ...shapeOf(parser.type),
      }
    }
    const schema: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Settings of noetl-cp',
      type: 'object',
      additionalProperties: false,
      properties,
    }
    return { json: schema, blocks: [{ kind: 'lines', lines: JSON.stringify(schema, null, 2).split('\n') }] }
  },
}
