import { writeFile } from 'node:fs/promises'
import { KEYS, type Setting } from '../../../config/keys.js'
import { KEY_NAMES } from '../../../config/load.js'
import { maskSetting } from '../../../config/masked.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError, messageOf } from '../../../errors.js'
import type { CommandSpec } from '../../command.js'
import { toned } from '../../output.js'

export const configShow: CommandSpec = {
  path: ['config', 'show'],
  showsAll: true,
  summary: 'Print settings with their values and where they came from',
  description:
    'Prints every setting with its value and where it came from; secrets are masked. Flag beats environment beats file beats default. With a filter only those whose name, variable, group or help holds the text.',
  args: [{ name: 'filter', help: 'part of a name, a variable, a group or the help', optional: true }],
  examples: [
    ['config show', 'all settings'],
    ['config show nats', 'those about NATS'],
    ['config show --json', 'the same for programs'],
  ],
  run: async (context, input) => {
    const { config, origins } = context.config()
    const json: JsonObject = {}
    const rows = matching(input.args['filter']).map((key) => {
      const setting: Setting<unknown> = KEYS[key]
      const value = maskSetting(setting, config[key])
      const origin = origins[key]
      json[key] = {
        value: config[key] === undefined ? null : value,
        source: origin.source,
        from: origin.name,
        env: setting.env,
      }
      const source = origin.source === 'default' ? toned('default', 'dim') : `${origin.source} ${origin.name}`
      return [key, value, source, setting.env]
    })
    return {
      json,
      blocks: [{ kind: 'table', isProse: true, columns: ['setting', 'value', 'origin', 'environment'], rows }],
    }
  },
}

function matching(filter: string | undefined): typeof KEY_NAMES {
  if (filter === undefined) return KEY_NAMES
  const wanted = filter.toLowerCase()
  const found = KEY_NAMES.filter((key) => {
    const { env, group, help } = KEYS[key]
    return [key, env, group, help].some((text) => text.toLowerCase().includes(wanted))
  })
  if (found.length > 0) return found
  throw new CpError('not_found', `no setting has ${JSON.stringify(filter)} in its name, variable, group or help`)
}

export const configCheck: CommandSpec = {
  path: ['config', 'check'],
  summary: 'Check the settings without starting anything',
  description: 'Reads flags, environment and file as the daemon would. Exit code 78 with every problem at once.',
  examples: [['config check --config noetl-cp.yaml', 'before it is rolled out']],
  run: async (context) => {
    const { origins, warnings } = context.config()
    const given = KEY_NAMES.filter((key) => origins[key].source !== 'default').length
    return {
      json: { ok: true, given, warnings },
      blocks: [{ kind: 'text', text: `the settings are good: ${given} given, the rest are defaults` }],
    }
  },
}

export const configInit: CommandSpec = {
  path: ['config', 'init'],
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

export const configSchema: CommandSpec = {
  path: ['config', 'schema'],
  showsAll: true,
  summary: 'Print the JSON Schema of the settings file, for editors',
  examples: [['config schema > noetl-cp.schema.json', 'beside the file that config init wrote']],
  run: async () => {
    const properties: JsonObject = {}
    for (const key of KEY_NAMES) {
      const { help, env, parser }: Setting<unknown> = KEYS[key]
      properties[key] = {
        description: `${help} (${parser.type}; ${env})`,
        type: ['string', 'number', 'boolean', 'array'],
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
