// The table of settings as Markdown, for the README. A test keeps the README equal to it.

import { KEYS, type Setting } from './keys.js'
import { KEY_NAMES } from './load.js'

export function settingsTable(): string {
  const lines = [
    '| Setting (environment) | Flag | In the file | Type | Default | Meaning |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  for (const key of KEY_NAMES) {
    const setting: Setting<unknown> = KEYS[key]
    const names = [setting.env, ...setting.envAliases].map((name) => `\`${name}\``).join(', ')
    const flag = setting.flag === undefined ? '' : `\`--${setting.flag}\``
    const fallback = setting.default === undefined || `${setting.default}` === '' ? '' : `\`${setting.default}\``
    const help = setting.secret ? `${setting.help}. Secret: also \`${setting.env}_FILE\`` : setting.help
    const type = setting.parser.type.replaceAll('|', ' \\| ')
    lines.push(`| ${names} | ${flag} | \`${key}\` | ${type} | ${fallback} | ${help} |`)
  }
  return lines.join('\n')
}
