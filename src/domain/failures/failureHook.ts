// `metadata.on_failure` of a playbook, or the setting: what happens when an execution has failed. A text is the path of a
// playbook or an address; a map is {playbook, payload} or {webhook, headers}.
import { CpError } from '../../errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export type FailureHook = { playbook: string; payload: JsonObject } | { webhook: string; headers: JsonObject }

/** Undefined: there is none. Throws `refused` with its place in the document. */
export function failureHookOf(document: JsonObject): FailureHook | undefined {
  const metadata = document['metadata']
  const value = isJsonObject(metadata) ? metadata['on_failure'] : undefined
  return value === undefined || value === null ? undefined : readFailureHook(value, '/metadata/on_failure')
}

export function readFailureHook(value: JsonValue, place: string): FailureHook {
  if (typeof value === 'string' && value.trim() !== '') {
    const text = value.trim()
    return isAddress(text) ? { webhook: text, headers: {} } : { playbook: text, payload: {} }
  }
  const { playbook, webhook, payload, headers } = isJsonObject(value) ? value : ({} as JsonObject)
  if (typeof webhook === 'string' && playbook === undefined) {
    if (!isAddress(webhook)) throw wrong(place, `webhook must begin with http:// or https://`)
    return { webhook, headers: mapOf(headers, `${place}/headers`) }
  }
  if (typeof playbook === 'string' && playbook !== '' && webhook === undefined) {
    return { playbook, payload: mapOf(payload, `${place}/payload`) }
  }
  throw wrong(place, 'must be the path of a playbook, an address, {playbook, payload} or {webhook, headers}')
}

/** Undefined: it starts none. */
export function playbookOf(hook: FailureHook | undefined): string | undefined {
  return hook !== undefined && 'playbook' in hook ? hook.playbook : undefined
}

function isAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text)
}

function mapOf(value: JsonValue | undefined, place: string): JsonObject {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) throw wrong(place, 'must be a map')
  return value
}

function wrong(place: string, what: string): CpError {
  return new CpError('refused', `${place}: ${what}`, { details: { violations: [{ path: place, message: what }] } })
}
