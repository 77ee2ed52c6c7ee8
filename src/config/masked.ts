// How a setting may be shown to people: secrets masked, passwords inside URLs too.
import { redactText } from '../domain/secrets/redact.js'
import { secretRules } from '../domain/secrets/secretNames.js'
import type { Setting } from './keys.js'

const RULES = secretRules()

export function maskSetting(setting: Setting<unknown>, value: unknown): string {
  if (value === undefined) return ''
  const shown = Array.isArray(value) ? value.join(',') : String(value)
  if (!setting.secret) return redactText(shown, RULES)
  return /:\/\//.test(shown) ? maskPairs(maskUrls(shown)) : '********'
}

/** Hides user info of every URL in a text: `postgres://user:secret@host` → `postgres://user:****@host`. */
export function maskUrls(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)([^\s/]*)@/gi, (_, scheme: string, info: string) => {
    const user = info.split(':')[0] ?? ''
    // A lone token in front of the @ is a secret as a whole.
    return info.includes(':') ? `${scheme}${user}:****@` : `${scheme}****@`
  })
}

/** `password=secret` outside the user info: an item of a shard list, or a parameter of a URL. */
function maskPairs(text: string): string {
  return text.replace(/(password\s*=)[^&;,\s]*/gi, '$1****')
}
