// An event and its secrets: the log holds the event as it may be shown, and beside it, sealed, what was taken out.
// So every reader of the log, its checksums and its messages see no secret, and nothing a later step needs is lost.

import { CpError } from '../../errors.js'
import type { EventRecord } from '../events/eventRecord.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import type { Keyring } from './keyring.js'
import { type Hidden, hide, redactText, reveal } from './redact.js'
import type { SecretRules } from './secretNames.js'

/** What the way into the log asks for. */
export interface EventSecrets {
  /** The event as it may be shown; what was taken out is in `hidden`. */
  hide<T extends EventRecord>(event: T): T
  /** What `hide` took out, or what came sealed; null when there is nothing, or no key. */
  seal(event: EventRecord): string | null
}

const PARTS = ['context', 'result', 'meta'] as const
const TEXTS = ['error', 'stackTrace'] as const

/** `onLost` hears of secrets that are dropped because there is no key to seal them with. */
export function createEventSecrets(rules: SecretRules, keyring: Keyring, onLost?: () => void): EventSecrets {
  return {
    // One that comes sealed was looked at by whoever sealed it; to take out more would lose what is in there.
    hide: (event) => (event.sealed === undefined ? hideEvent(event, rules) : event),
    seal: (event) => {
      if (event.sealed !== undefined) return event.sealed
      const hidden = event.written === undefined ? event.hidden && writeJson(event.hidden) : event.written.hidden
      if (hidden === undefined) return null
      if (keyring.sealingKeyId === undefined) {
        onLost?.()
        return null
      }
      return keyring.seal(Buffer.from(hidden), placeOf(event))
    },
  }
}

/** For installations that keep their data as it is. */
export const noEventSecrets: EventSecrets = { hide: (event) => event, seal: (event) => event.sealed ?? null }

/** The very same record when there is nothing to hide. */
export function hideEvent<T extends EventRecord>(event: T, rules: SecretRules): T {
  // Done where it was read.
  if (event.written !== undefined) return event
  const hidden: Hidden = {}
  const clean: Partial<EventRecord> = {}
  for (const part of [...PARTS, ...TEXTS]) {
    const value = event[part]
    if (value === undefined) continue
    const shown = hide(value, rules, hidden, `/${part}`)
    if (shown !== value) clean[part] = shown as never
  }
  // A type is a name: what is hidden in it is needed by nobody and kept nowhere.
  if (!PLAIN_TYPE.test(event.eventType)) {
    const shown = redactText(event.eventType, rules)
    if (shown !== event.eventType) clean.eventType = shown
  }
  if (Object.keys(clean).length === 0) return event
  return Object.keys(hidden).length === 0 ? { ...event, ...clean } : { ...event, ...clean, hidden }
}

/** The types that nearly every event has: nothing to look for. */
const PLAIN_TYPE = /^[\w.]*$/

type Opened = Pick<EventRecord, 'executionId' | 'eventId'> &
  Partial<Pick<EventRecord, (typeof PARTS)[number] | (typeof TEXTS)[number]>>

/** The event with its secrets back in their places. */
export function openEvent<T extends Opened>(event: T, sealed: string, keyring: Keyring): T {
  const hidden = parseJson(keyring.open(sealed, placeOf(event)).toString('utf8'))
  if (!isJsonObject(hidden))
    throw new CpError('corrupt', `the sealed value of ${placeOf(event)} is not a list of values`)
  const whole: { [key: string]: JsonValue } = {}
  for (const part of [...PARTS, ...TEXTS]) if (event[part] !== undefined) whole[part] = event[part]
  return { ...event, ...(reveal(whole, hidden) as Partial<EventRecord>) }
}

function placeOf(event: Pick<EventRecord, 'executionId' | 'eventId'>): string {
  return `event ${event.eventId} of execution ${event.executionId}`
}
