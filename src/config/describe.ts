// Every setting as people may see it: its value without secrets, and where it came from.
import { KEYS, type Setting } from './keys.js'
import { KEY_NAMES, type LoadedConfig } from './load.js'
import { maskSetting } from './masked.js'

export interface SettingView {
  name: string
  env: string
  group: string
  /** Null where it is not set. */
  value: string | null
  default: string | null
  source: string
  from: string
  isSecret: boolean
  help: string
}

export function describeSettings({ config, origins }: Pick<LoadedConfig, 'config' | 'origins'>): SettingView[] {
  return KEY_NAMES.map((name) => {
    const setting: Setting<unknown> = KEYS[name]
    const shown = (value: unknown) => (value === undefined ? null : maskSetting(setting, value))
    return {
      name,
      env: setting.env,
      group: setting.group,
      value: shown(config[name]),
      default: shown(setting.default),
      source: origins[name].source,
      from: origins[name].name,
      isSecret: setting.secret !== false,
      help: setting.help,
    }
  })
}
