// One event of any size as it may be shown. Looking for secrets means reading it, which is not for the main loop.
import { redactJson } from '../../../domain/secrets/redact.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'

export function shownEvent(input: { text: string; secretNames: readonly string[] | null }): { bytes: Uint8Array } {
  const { text, secretNames } = input
  return { bytes: Buffer.from(secretNames === null ? text : redactJson(text, secretRules(secretNames))) }
}
