// Hides what looks like a secret in a finished document. Runs after the checksum was made, so a redacted
// body disagrees with its own checksum; whoever serves it must say so. Key names are matched broadly on
// purpose: hiding too much is the smaller mistake here.

import { Float, isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'

export const REDACTED = '[REDACTED]'
const DEPTH_MAX = 20

// Names that contain another one of the list ("auth", "token", "secret", "cert", "pem") need no entry.
const SENSITIVE_KEY = new RegExp(
  [
    ...['password', 'passwd', 'pwd', 'secret', 'token', 'bearer', 'api_?key', 'auth', 'credential'],
    ...['private_?key', 'connection_?string', 'gcp_key', 'azure_key', 'ssh_?key', 'passphrase', 'pem', 'cert'],
    ...['encryption_key', 'decrypt_key', 'master_key', 'keychain', 'jwt'],
  ].join('|'),
)

const CODE_OR_TEMPLATE = /\{\{|\}\}|=\{|def |import |return |class /
const SECRET_TEXT = [
  /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]+:[^/\s@]+@/i, // URL with user and password
  /^(?:bearer|basic)\s+\S/i,
  /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/, // JWT
  /(?:^|["':\s])sk-[A-Za-z0-9_-]{10,}/,
  /(?:^|["':\s])AIza[A-Za-z0-9_-]{16,}/,
  /(?:^|["':\s])ya29\.[A-Za-z0-9_-]+/,
  /(?:^|["':\s])gh[pousr]_[A-Za-z0-9]{16,}/,
  /(?:^|["':\s])github_pat_[A-Za-z0-9_]{9,}/,
  /(?:^|["':\s])xox[baprs]-[A-Za-z0-9-]{15,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /[?&](?:key|api_key|token|access_token|id_token|refresh_token|client_secret|signature)=[^&\s]+/i,
]

export function redact(value: JsonValue): JsonValue {
  return redactAt(value, 0)
}

export function looksLikeSecret(text: string): boolean {
  return !CODE_OR_TEMPLATE.test(text) && SECRET_TEXT.some((pattern) => pattern.test(text))
}

export function isSensitiveKey(key: string): boolean {
  return SENSITIVE_KEY.test(key.toLowerCase().replaceAll('-', '_'))
}

function redactAt(value: JsonValue, depth: number): JsonValue {
  if (depth > DEPTH_MAX) return value
  if (typeof value === 'string') return looksLikeSecret(value) ? REDACTED : value
  if (Array.isArray(value)) return value.map((item) => redactAt(item, depth + 1))
  return isJsonObject(value) ? redactObject(value, depth) : value
}

function redactObject(object: JsonObject, depth: number): JsonObject {
  const copy: JsonObject = {}
  for (const key of Object.keys(object)) {
    const value = object[key]!
    setKey(copy, key, isSensitiveKey(key) ? redactSensitive(value) : redactAt(value, depth + 1))
  }
  return copy
}

function redactSensitive(value: JsonValue): JsonValue {
  if (typeof value === 'string') return looksLikeSecret(value) ? REDACTED : value
  if (typeof value !== 'object' || value === null || value instanceof Float) return value
  return isKeychainReference(value) ? value : REDACTED
}

/** Names a secret without holding it. */
function isKeychainReference(value: JsonObject | JsonValue[]): boolean {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return false
  const reference = value['$noetl_ref']
  return isJsonObject(reference) && reference['kind'] === 'keychain'
}
