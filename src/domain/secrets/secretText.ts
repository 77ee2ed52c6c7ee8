// Cuts credentials out of text: keys, tokens and headers that are known by their form, passwords in URLs, and values
// that stand behind a secret name (`password=…`, `"api_key": "…"`). The rest of the text stays. Every step is linear:
// a text is walked a fixed number of times, whatever it holds.

import type { SecretRules } from './secretNames.js'

export const REDACTED = '[REDACTED]'

const SHORTEST = 6

export function redactText(text: string, rules: SecretRules): string {
  if (text.length < SHORTEST) return text
  let clean = text
  if (clean.includes('-----BEGIN')) clean = clean.replace(PRIVATE_KEY, REDACTED)
  if (clean.includes('eyJ')) clean = withoutJwts(clean)
  if (clean.includes('://')) clean = withoutUserInfo(clean)
  if (AUTH_SCHEME.test(clean)) clean = withoutAuthHeaders(clean)
  if (clean.includes('=') || clean.includes(':')) clean = withoutAssignments(clean, rules)
  if (clean.includes('--')) clean = withoutFlags(clean, rules)
  if (KNOWN_START.test(clean)) {
    // Words may begin alike (`sk-learn-estimators`); what is drawn by lot has a digit.
    clean = clean.replace(KNOWN_TOKEN, (found) => (/[0-9]/.test(found) ? REDACTED : found))
  }
  return clean === text || !WHOLE_HEADER.test(clean) ? clean : REDACTED
}

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g

const JWT_RUN = /[A-Za-z0-9_.-]+/g

/** Run by run: a pattern that looks for the three parts from every `eyJ` on would read a long run once for each. */
function withoutJwts(text: string): string {
  return text.replace(JWT_RUN, (run) => (run.includes('eyJ') && run.includes('.') ? withoutJwtsInRun(run) : run))
}

const JWT_START = /(?<![A-Za-z0-9_])eyJ/
const JWT_HEADER_MIN = 8

function withoutJwtsInRun(run: string): string {
  const parts = run.split('.')
  const kept: string[] = []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    const start = at + 2 < parts.length && parts[at + 1]!.length >= 2 ? part.search(JWT_START) : -1
    if (start === -1 || part.length - start < JWT_HEADER_MIN) kept.push(part)
    else {
      kept.push(part.slice(0, start) + REDACTED)
      at += 2
    }
  }
  return kept.join('.')
}

const AUTHORITY = /[^\s/?#"'<>\\]*/y
/** Their lone user is a token; in `ssh://git@host` it is only a name. */
const TOKEN_AS_USER = /(?:^|[^a-z])(?:https?|nats|tls|wss?|amqps?|rediss?)$/i
const SCHEME_LENGTH_MAX = 12

/** `postgres://user:secret@host` → `postgres://user:[REDACTED]@host`. */
function withoutUserInfo(text: string): string {
  let clean = ''
  let from = 0
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', from)) {
    const start = at + 3
    AUTHORITY.lastIndex = start
    const authority = AUTHORITY.exec(text)![0]
    const end = authority.lastIndexOf('@')
    clean += text.slice(from, start) + (end === -1 ? '' : hiddenUser(text, at, authority.slice(0, end)))
    from = end === -1 ? start : start + end
  }
  return clean + text.slice(from)
}

function hiddenUser(text: string, schemeEnd: number, info: string): string {
  const colon = info.indexOf(':')
  if (colon === -1) {
    const scheme = text.slice(Math.max(0, schemeEnd - SCHEME_LENGTH_MAX), schemeEnd)
    return info === '' || isTemplate(info) || !TOKEN_AS_USER.test(scheme) ? info : REDACTED
  }
  const password = info.slice(colon + 1)
  return password === '' || isTemplate(password) ? info : `${info.slice(0, colon)}:${REDACTED}`
}

const AUTH_SCHEME = /\b(?:bearer|basic)\s/i
const AUTH_HEADER = /\b(bearer|basic)\s{1,8}([A-Za-z0-9._~+/=-]{6,})/gi
const WHOLE_HEADER = /^\s{0,8}(?:bearer|basic) \[REDACTED\]\s{0,8}$/i

function withoutAuthHeaders(text: string): string {
  return text.replace(AUTH_HEADER, (found, scheme: string, credential: string) =>
    isCredential(scheme, credential) ? `${scheme} ${REDACTED}` : found,
  )
}

/** "Basic training" and "bearer securities" are words; a credential is base64 of user:password, or looks random. */
function isCredential(scheme: string, text: string): boolean {
  if (scheme.toLowerCase() === 'basic') {
    return text.length % 4 === 0 && Buffer.from(text, 'base64').toString('latin1').includes(':')
  }
  return text.length >= 24 || /[0-9]/.test(text) || /[._~+/=][A-Za-z]/.test(text)
}

// name=value, name="value", "name": "value", name: value, name]=value. A name is looked for only where one may begin,
// and is bounded; a value is read only behind a secret name, and never twice. A quoted one ends at its quote: the next
// opening quote of the same kind ends it at the latest.
const NAME = /(?<![A-Za-z0-9_.%-])(\\?["']?)(-{0,2}[A-Za-z_$][A-Za-z0-9_.%-]{1,63})(\1?\]?\s{0,4}[=:]\s{0,4})/g
const VALUE = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\"[^"\\]*\\"|[^\s"'&;,<>()#{}[\]][^\s"'&;,<>]*/sy
/** As parameters of a URL these hold secrets as well. */
const PARAMETERS: ReadonlySet<string> = new Set(['key', 'sig', 'signature', 'x-amz-signature', 'x-goog-signature'])

function withoutAssignments(text: string, rules: SecretRules): string {
  let clean = ''
  let from = 0
  NAME.lastIndex = 0
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const [found, , name, between] = match as unknown as [string, string, string, string]
    if (rules.judge(name) === 'open' && !isSecretParameter(text, match.index, name)) continue
    const start = match.index + found.length
    VALUE.lastIndex = start
    const value = VALUE.exec(text)?.[0]
    if (value === undefined) continue
    NAME.lastIndex = start + value.length
    if (!isHidable(value, between)) continue
    clean += text.slice(from, start) + hiddenValue(value)
    from = start + value.length
  }
  return from === 0 ? text : clean + text.slice(from)
}

function isSecretParameter(text: string, at: number, name: string): boolean {
  const before = text[at - 1]
  return (before === '?' || before === '&') && PARAMETERS.has(name.toLowerCase())
}

// `--password value`, as on a command line.
const FLAG = /(?<=^|\s)(--[A-Za-z][A-Za-z0-9-]{1,48})(\s{1,4})("[^"]*"|'[^']*'|[^\s"'-][^\s"']*)/g

function withoutFlags(text: string, rules: SecretRules): string {
  return text.replace(FLAG, (found, name: string, between: string, value: string) =>
    rules.judge(name) === 'open' || !isHidable(value, '') ? found : `${name}${between}${hiddenValue(value)}`,
  )
}

/** Prose uses colons (`invalid token: expected a comma`), flags and numbers tell nothing, templates hold a place. */
function isHidable(value: string, between: string): boolean {
  const inner = unquoted(value)
  if (inner === '' || inner === REDACTED || WHOLE_HEADER.test(inner) || isTemplate(inner)) return false
  if (/^(?:true|false|null|none|undefined)$/i.test(inner)) return false
  const isQuoted = inner !== value
  if (isQuoted || !between.includes(':')) return true
  return !/^[A-Za-z-]*[.!?]?$/.test(inner) && !AUTH_WORD.test(inner)
}

const AUTH_WORD = /^(?:bearer|basic)$/i

function hiddenValue(value: string): string {
  if (value.startsWith('\\"')) return `\\"${REDACTED}\\"`
  const quote = value[0] === '"' || value[0] === "'" ? value[0] : ''
  return `${quote}${REDACTED}${quote}`
}

function unquoted(value: string): string {
  if (value.startsWith('\\"')) return value.slice(2, -2)
  return value[0] === '"' || value[0] === "'" ? value.slice(1, -1) : value
}

function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('}}') || text.startsWith('${') || text.startsWith('<')
}

const KNOWN_START = /sk[-_]|AIza|ya29\.|gh[pousr]_|github_pat_|glpat-|xox[baprs]-|whsec_|AKIA|SG\.|hf_|npm_/
const KNOWN_TOKEN =
  /(?<![A-Za-z0-9])(?:(?:sk|rk)[-_][A-Za-z0-9_-]{10,}|AIza[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{4,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{9,}|glpat-[A-Za-z0-9_-]{16,}|xox[baprs]-[A-Za-z0-9-]{10,}|whsec_[A-Za-z0-9+/=]{16,}|SG\.[A-Za-z0-9_.-]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,})/g
