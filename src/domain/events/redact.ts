// Takes secrets out of event data before it is stored. A key counts only if it is exactly one of the listed
// names, so that `author` and `tokens_used` survive; inside text, credentials that are recognisable by their
// form are cut out and the rest of the text stays. It never changes its input and never removes a key, so
// that the shape of the data stays readable.

import { Float, isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'

export const REDACTED = '[REDACTED]'

/**
 * Compared without case, dashes and underscores: `X-Api-Key`, `x_api_key` and `xApiKey` are one name.
 * `auth` is not among them: playbooks use it for the alias of a credential, and the credential itself is
 * caught by its own keys.
 */
export const DEFAULT_SECRET_KEYS: readonly string[] = [
  'password',
  'passwd',
  'pwd',
  'passphrase',
  'secret',
  'secrets',
  'client_secret',
  'shared_secret',
  'webhook_secret',
  'signing_secret',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'auth_token',
  'bearer_token',
  'session_token',
  'security_token',
  'csrf_token',
  'api_token',
  'jwt',
  'api_key',
  'x_api_key',
  'secret_key',
  'private_key',
  'signing_key',
  'encryption_key',
  'access_key',
  'secret_access_key',
  'aws_secret_access_key',
  'aws_session_token',
  'account_key',
  'authorization',
  'proxy_authorization',
  'x_auth_token',
  'cookie',
  'set_cookie',
  'credential',
  'credentials',
  'service_account_json',
  'connection_string',
  'dsn',
]

export type SecretKeys = ReadonlySet<string>

export function secretKeys(names: readonly string[] = DEFAULT_SECRET_KEYS): SecretKeys {
  return new Set(names.map(foldKey))
}

/** The value without secrets; the very same object when there was nothing to hide. */
export function redact(value: JsonValue, keys: SecretKeys): JsonValue {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return redactArray(value, keys)
  return isJsonObject(value) ? redactObject(value, keys) : value
}

export function redactText(text: string): string {
  if (text.length < 8) return text
  let clean = text
  if (clean.includes('-----BEGIN')) clean = clean.replace(PRIVATE_KEY, REDACTED)
  if (clean.includes('eyJ')) clean = clean.replace(JWT, REDACTED)
  if (AUTH_SCHEME.test(clean)) {
    clean = clean.replace(AUTH_HEADER, (found, scheme: string, credential: string) =>
      isCredential(scheme, credential) ? `${scheme} ${REDACTED}` : found,
    )
    if (clean.length < 24 && /^\s*(?:bearer|basic) \[REDACTED\]\s*$/i.test(clean)) return REDACTED
  }
  return clean
}

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g
const JWT = /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*/g
const AUTH_SCHEME = /\b(?:bearer|basic)\s/i
const AUTH_HEADER = /\b(bearer|basic)\s{1,8}([A-Za-z0-9._~+/=-]{6,})/gi

/** "Basic training" and "bearer securities" are words; a credential is base64 of user:password, or looks random. */
function isCredential(scheme: string, text: string): boolean {
  if (scheme.toLowerCase() === 'basic') {
    return text.length % 4 === 0 && Buffer.from(text, 'base64').toString('latin1').includes(':')
  }
  return text.length >= 24 || /[0-9]/.test(text) || /[._~+/=][A-Za-z]/.test(text)
}

function redactArray(array: JsonValue[], keys: SecretKeys): JsonValue[] {
  let changed: JsonValue[] | undefined
  for (const [index, item] of array.entries()) {
    const clean = redact(item, keys)
    if (clean !== item) {
      changed ??= array.slice()
      changed[index] = clean
    }
  }
  return changed ?? array
}

function redactObject(object: JsonObject, keys: SecretKeys): JsonObject {
  let changed: JsonObject | undefined
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue
    const clean = keys.has(foldKey(key)) ? redactWhole(value) : redact(value, keys)
    if (clean !== value) {
      changed ??= { ...object }
      setKey(changed, key, clean)
    }
  }
  return changed ?? object
}

/** Nothing, a flag, and a reference to the keychain tell no secret. */
function redactWhole(value: JsonValue): JsonValue {
  if (value === null || value === '' || typeof value === 'boolean') return value
  if (isJsonObject(value)) {
    const names = Object.keys(value)
    if (names.length === 0 || (names.length === 1 && names[0] === '$noetl_ref')) return value
  }
  if (Array.isArray(value) && value.length === 0) return value
  return value instanceof Float || value !== REDACTED ? REDACTED : value
}

const foldedKeys = new Map<string, string>()
const FOLDED_MAX = 2000

function foldKey(key: string): string {
  const known = foldedKeys.get(key)
  if (known !== undefined) return known
  const folded = key.length > 64 ? key : key.replace(/[-_\s]/g, '').toLowerCase()
  if (foldedKeys.size < FOLDED_MAX) foldedKeys.set(key, folded)
  return folded
}
