// Labels of an execution: short names with short values, given when it starts and never changed. They are part of its start
// event (`meta.labels`), from which the read model takes them, whoever wrote the event.
import { CpError } from '../../errors.js'
import type { EventRecord } from '../events/eventRecord.js'
import { isStartEventType } from '../events/eventType.js'
import { isJsonObject, type JsonValue } from '../json/value.js'

export type Labels = Readonly<Record<string, string>>

export const LABELS_MAX = 32
const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const VALUE_MAX = 256
const CONTROLS = /\p{Cc}/u

/** Throws what is wrong with them, naming the label. Undefined: there are none. */
export function readLabels(given: JsonValue | undefined, field: string): Labels | undefined {
  if (given === undefined || given === null) return undefined
  if (!isJsonObject(given)) throw wrong(field, `${field} must be a map of names to texts`)
  const entries = Object.entries(given)
  if (entries.length > LABELS_MAX) throw wrong(field, `${field}: at most ${LABELS_MAX} labels, not ${entries.length}`)
  for (const [key, value] of entries) {
    const problem = problemOf(key, value)
    if (problem !== undefined) throw wrong(field, `${field}: ${problem}`)
  }
  return entries.length === 0 ? undefined : (given as Labels)
}

/** Of texts such as `team=payments`; a name that comes twice is refused. */
export function readLabelTexts(texts: readonly string[], field: string): Labels | undefined {
  const labels = new Map<string, string>()
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1) throw wrong(field, `${field} must be key=value, not ${JSON.stringify(text)}`)
    const key = text.slice(0, at)
    if (labels.has(key)) throw wrong(field, `${field}: the label ${key} is given twice`)
    labels.set(key, text.slice(at + 1))
  }
  return readLabels(Object.fromEntries(labels), field)
}

/** What a start event says; what nobody could have asked for is left out. */
export function labelsOf({ eventType, meta }: Pick<EventRecord, 'eventType' | 'meta'>): Labels | undefined {
  const given = isStartEventType(eventType) && isJsonObject(meta) ? meta['labels'] : undefined
  if (!isJsonObject(given)) return undefined
  const known = Object.entries(given).filter(([key, value]) => problemOf(key, value) === undefined)
  return known.length === 0 ? undefined : (Object.fromEntries(known.slice(0, LABELS_MAX)) as Labels)
}

function problemOf(key: string, value: JsonValue): string | undefined {
  if (!KEY.test(key)) {
    return `a name has up to 63 letters, digits, dots, dashes and underscores, unlike ${JSON.stringify(key.slice(0, 80))}`
  }
  if (typeof value !== 'string') return `the value of ${key} must be a text`
  if (value.length === 0 || value.length > VALUE_MAX)
    return `the value of ${key} must have 1 to ${VALUE_MAX} characters`
  return CONTROLS.test(value) ? `the value of ${key} must not contain control characters` : undefined
}

function wrong(field: string, message: string): CpError {
  return new CpError('invalid_input', message, { details: { field } })
}
