// One event of any size, or one part of it, as it may be shown. Looking for secrets means reading it, which is not for
// the main loop.
import { skimMembers } from '../../../domain/json/skim.js'
import { redactJson } from '../../../domain/secrets/redact.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'

export interface EventPart {
  name: string
  /** With it the answer is `{part, total_bytes, is_cut, text}`, and `text` has at most so many bytes of the part. */
  bytesMax: number | undefined
}

/** No bytes: the event does not have that part. */
export function shownEvent(input: {
  text: string
  secretNames: readonly string[] | null
  part?: EventPart | undefined
}): { bytes: Uint8Array | undefined } {
  const { text, secretNames, part } = input
  const shown = secretNames === null ? text : redactJson(text, secretRules(secretNames))
  if (part === undefined) return { bytes: Buffer.from(shown) }
  const found = skimMembers(shown, new Set([part.name])).get(part.name)
  if (found === undefined) return { bytes: undefined }
  return {
    bytes: part.bytesMax === undefined ? Buffer.from(found) : Buffer.from(headOf(part.name, found, part.bytesMax)),
  }
}

function headOf(name: string, text: string, bytesMax: number): string {
  const whole = Buffer.from(text)
  // In streams a character that is cut in two waits for its rest, and is left out here.
  const head = new TextDecoder().decode(whole.subarray(0, bytesMax), { stream: true })
  return JSON.stringify({ part: name, total_bytes: whole.length, is_cut: whole.length > bytesMax, text: head })
}
