// How a setting may be shown to people: secrets masked, passwords inside of addresses too.
import { redactText } from '../domain/secrets/redact.js'
import { secretRules } from '../domain/secrets/secretNames.js'
import type { Setting } from './keys.js'

const RULES = secretRules()

export function maskSetting(setting: Setting<unknown>, value: unknown): string {
  if (value === undefined) return ''
  const shown = Array.isArray(value) ? value.join(',') : String(value)
  // What does not look like an address may be a secret in the wrong place.
  const isWhole = setting.secret === true || (setting.secret === 'address' && !/:\/\/|=/.test(shown))
  return isWhole ? '********' : maskAddress(shown)
}

/** `postgres://user:secret@host` → `postgres://user:[REDACTED]@host`; likewise `password=…`, wherever it stands. */
export function maskAddress(text: string): string {
  return redactText(text, RULES)
}
