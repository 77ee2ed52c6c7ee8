// Turns the text of a setting into its value. A bad text throws a plain sentence; it is never silently
// the default. The same parsers serve flags, environment and file.

export interface Parser<T> {
  /** Shown in the generated table of settings. */
  type: string
  parse(text: string): T
}

function parser<T>(type: string, parse: (text: string) => T): Parser<T> {
  return { type, parse }
}

export const text = parser('text', (value) => {
  if (value.trim() === '') throw new Error('must not be empty')
  return value
})

/** Tokens and passwords: a trailing newline from a secret file is not part of them. */
export const secretText = parser('text', (value) => {
  const trimmed = value.trim()
  if (trimmed === '') throw new Error('must not be empty')
  return trimmed
})

const TOKEN_LENGTH_MIN = 16
/** What our samples have in place of a token, and what people write there. */
const SAMPLE = /change.?me|replace.?me|your.?(?:api.?|internal.?)?token|placeholder|example/i
const MAKE_ONE = 'make one with: openssl rand -base64 32'

/** What callers show to us: long enough that nobody guesses it, and in no file that others have, too. */
export const token = parser('token', (value) => {
  const trimmed = secretText.parse(value)
  if (trimmed.length < TOKEN_LENGTH_MIN)
    throw new Error(`must have ${TOKEN_LENGTH_MIN} characters or more; ${MAKE_ONE}`)
  if (SAMPLE.test(trimmed)) throw new Error(`is still the one of a sample, which everybody knows; ${MAKE_ONE}`)
  return trimmed
})

const SECRET_KEY_LENGTH_MIN = 32

/** Keys that replace each other, the newest first. */
export const secretKeys = parser('keys', (value) => {
  const keys = value.split(/[\s,]+/).filter((key) => key !== '')
  if (keys.length === 0) throw new Error('must not be empty')
  if (keys.some((key) => key.length < SECRET_KEY_LENGTH_MIN)) {
    throw new Error(
      `must be keys of ${SECRET_KEY_LENGTH_MIN} characters or more; make one with openssl rand -base64 32`,
    )
  }
  return keys
})

const TRUE = new Set(['1', 'true', 'yes', 'on'])
const FALSE = new Set(['0', 'false', 'no', 'off'])

export const bool = parser('boolean', (value) => {
  const lower = value.trim().toLowerCase()
  if (TRUE.has(lower)) return true
  if (FALSE.has(lower)) return false
  throw new Error(`must be true or false, not ${quote(value)}`)
})

export function integer(min: number, max: number): Parser<number> {
  return parser(`integer ${min}..${max}`, (value) => {
    if (!/^[+-]?\d{1,15}$/.test(value.trim())) throw new Error(`must be an integer, not ${quote(value)}`)
    const number = Number(value)
    if (number < min || number > max) throw new Error(`must be from ${min} to ${max}, not ${number}`)
    return number
  })
}

/** Kubernetes sets NOETL_PORT=tcp://… for a Service named "noetl"; say so instead of guessing. */
export const port = parser('port', (value) => {
  if (value.includes('://')) {
    throw new Error(
      `must be a port, not ${quote(value)}; Kubernetes sets this for a Service of that name: set it in the pod, or set enableServiceLinks: false`,
    )
  }
  return integer(0, 65535).parse(value)
})

export function seconds(min: number, max: number): Parser<number> {
  return parser(`seconds ${min}..${max}`, (value) => {
    if (!/^\d{1,9}(\.\d{1,3})?$/.test(value.trim())) throw new Error(`must be a number of seconds, not ${quote(value)}`)
    const number = Number(value)
    if (number < min || number > max) throw new Error(`must be from ${min} to ${max} seconds, not ${number}`)
    return number
  })
}

export function oneOf<const T extends readonly string[]>(...choices: T): Parser<T[number]> {
  return parser(choices.join('|'), (value) => {
    const found = choices.find((choice) => choice === value.trim().toLowerCase())
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}, not ${quote(value)}`)
    return found
  })
}

export const list = parser('comma-separated list', (value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

export function url(...protocols: string[]): Parser<string> {
  return parser('URL', (value) => {
    let parsed: URL
    try {
      parsed = new URL(value.trim())
    } catch {
      throw new Error(`must be a URL such as ${protocols[0]}://host:port`)
    }
    if (!protocols.includes(parsed.protocol.slice(0, -1))) {
      throw new Error(`must start with ${protocols.map((name) => `${name}://`).join(' or ')}`)
    }
    return value.trim()
  })
}

/** As browsers write them, or they would never be equal. */
export const origins = parser('list of origins', (value) =>
  list.parse(value).map((item) => {
    const { origin } = new URL(url('http', 'https').parse(item))
    if (origin !== item) throw new Error(`must be origins such as ${origin}, not ${quote(item)}`)
    return origin
  }),
)

export const consoleBase = parser('path', (value) => {
  const path = value.trim().replace(/\/$/, '')
  if (!/^(?:\/[\w.~-]+)*\/console$/.test(path)) {
    throw new Error(`must be a path that ends in /console, such as /noetl/console, not ${quote(value)}`)
  }
  return path
})

/** Every item gets its scheme: without one a token in front of the host would escape the masking of URLs. */
export const natsUrls = parser('URL list', (value) => {
  const items = value.split(',').map((item) => (item.includes('://') ? item.trim() : `nats://${item.trim()}`))
  return items.map((item) => url('nats', 'tls').parse(item)).join(',')
})

/** A wildcard, a space or a `$` in a subject of ours would reach messages and commands that are not ours. */
export const subjectTokens = parser('subject', (value) => {
  const tokens = value.trim().split('.')
  if (!tokens.every((token) => /^[A-Za-z0-9_-]+$/.test(token))) {
    throw new Error('must be words of letters, digits, - and _, joined by dots')
  }
  return tokens.join('.')
})

export const streamName = parser('stream name', (value) => {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(value.trim())) throw new Error('must be one word of letters, digits, - and _')
  return value.trim()
})

function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value)
}
