import { KEYS, type Setting } from '../../../config/keys.js'
import { KEY_NAMES } from '../../../config/load.js'
import { maskSetting } from '../../../config/masked.js'
import type { JsonObject } from '../../../domain/json/value.js'
import type { CommandSpec } from '../../command.js'
import { toned } from '../../output.js'

export const configShow: CommandSpec = {
  path: ['config', 'show'],
  showsAll: true,
  summary: 'Print every setting with its value and where it came from',
  description:
    'Prints every setting with its value and where it came from; secrets are masked. Flag beats environment beats file beats default.',
  examples: [
    ['config show', 'all settings'],
    ['config show --json', 'the same for programs'],
  ],
  run: async (context) => {
    const { config, origins } = context.config()
    const json: JsonObject = {}
    const rows = KEY_NAMES.map((key) => {
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
    return { json, blocks: [{ kind: 'table', columns: ['setting', 'value', 'origin', 'environment'], rows }] }
  },
}
