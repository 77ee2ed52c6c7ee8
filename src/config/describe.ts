// Every setting as people may see it: the value that a daemon uses, without secrets, and where it came from.
import { KEYS, type KeyName, type Setting } from './keys.js'
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
  /** What the value follows where the setting leaves it open; null where it says it. */
  because: string | null
  isSecret: boolean
  help: string
}

/** Values that a daemon finds by itself, by the names of their settings. */
export type DerivedSettings = Partial<Record<KeyName, { value: unknown; because: string }>>

export function describeSettings(
  { config, origins }: Pick<LoadedConfig, 'config' | 'origins'>,
  derived: DerivedSettings,
): SettingView[] {
  return KEY_NAMES.map((name) => {
    const setting: Setting<unknown> = KEYS[name]
    const shown = (value: unknown) => (value === undefined ? null : maskSetting(setting, value))
    return {
      name,
      env: setting.env,
      group: setting.group,
      value: shown(derived[name]?.value ?? config[name]),
      default: shown(setting.default),
      source: origins[name].source,
      from: origins[name].name,
      because: derived[name]?.because ?? null,
      isSecret: setting.secret !== false,
      help: setting.help,
    }
  })
}
