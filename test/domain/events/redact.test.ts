// Promise: secrets do not reach the log, and what only sounds like one does.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { REDACTED, redact, redactText, secretKeys } from '../../../src/domain/events/redact.js'
import { parseJson } from '../../../src/domain/json/parse.js'
import { Float, type JsonValue } from '../../../src/domain/json/value.js'
import { writeJson } from '../../../src/domain/json/write.js'

const KEYS = secretKeys()
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s5aBcDeFgH'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----'

describe('keys', () => {
  it.each(['password', 'PASSWORD', 'api_key', 'apiKey', 'X-Api-Key', 'access-token', 'Authorization', 'privateKey'])(
    '%s hides its value',
    (key) => {
      expect(redact({ [key]: 'x' }, KEYS)).toEqual({ [key]: REDACTED })
    },
  )

  it.each([
    'author',
    'authorized_count',
    'tokens_used',
    'certified',
    'token_count',
    'secretary',
    'passwords_changed',
    'auth',
    'key',
  ])('%s survives', (key) => {
    const value = { [key]: 'x', nested: [{ [key]: 5 }] }
    expect(redact(value, KEYS)).toBe(value)
  })

  it('hide whole structures and numbers, but no flags, nothing, or references to the keychain', () => {
    const reference = { $noetl_ref: { kind: 'keychain', name: 'pg' } }
    expect(
      redact(
        {
          credentials: { user: 'u', host: 'h' },
          token: [1],
          pwd: 1234,
          secret: new Float(1),
          password: null,
          jwt: true,
          cookie: '',
          dsn: reference,
        },
        KEYS,
      ),
    ).toEqual({
      credentials: REDACTED,
      token: REDACTED,
      pwd: REDACTED,
      secret: REDACTED,
      password: null,
      jwt: true,
      cookie: '',
      dsn: reference,
    })
  })

  it('can be chosen', () => {
    expect(redact({ pin: 1, password: 'x' }, secretKeys(['pin']))).toEqual({ pin: REDACTED, password: 'x' })
  })
})

describe('values', () => {
  it.each([
    ['Bearer abc123def456', REDACTED],
    ['bearer sk_live_51H8abc', REDACTED],
    ['Basic dXNlcjpwYXNz', REDACTED],
    [JWT, REDACTED],
    [PEM, REDACTED],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nabc', REDACTED],
    [
      `failed with header Authorization: Bearer ${JWT}, retry`,
      `failed with header Authorization: Bearer ${REDACTED}, retry`,
    ],
    [`curl -H "Authorization: Basic dXNlcjpwYXNz" x`, `curl -H "Authorization: Basic ${REDACTED}" x`],
    [`a ${JWT} b ${JWT}`, `a ${REDACTED} b ${REDACTED}`],
  ])('%j becomes %j', (text, clean) => {
    expect(redactText(text)).toBe(clean)
    expect(redact({ note: [text] }, KEYS)).toEqual({ note: [clean] })
  })

  it.each([
    'Basic training',
    'Basic authentication failed',
    'the bearer securities',
    '-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'dGhpcyBpcyBhIGxvbmcgYmFzZTY0IHN0cmluZyB3aXRob3V0IHNlY3JldHM',
    'eyJust.a.sentence',
    'tokens_used: 5',
  ])('%j survives', (text) => {
    expect(redactText(text)).toBe(text)
  })

  it('takes linear time on hostile text', () => {
    const started = performance.now()
    redactText('-----BEGIN PRIVATE KEY-----'.repeat(20_000))
    redactText('eyJ'.repeat(200_000))
    redactText('bearer '.repeat(100_000))
    redactText(`Bearer ${'a.'.repeat(300_000)}`)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('shape', () => {
  it('keeps input, keys, numbers and idempotence', () => {
    const value = fc.jsonValue().map((plain) => parseJson(JSON.stringify(plain)))
    fc.assert(
      fc.property(value, (input: JsonValue) => {
        const before = writeJson(input)
        const once = redact(input, KEYS)
        expect(writeJson(input)).toBe(before)
        expect(redact(once, KEYS)).toBe(once)
      }),
    )
  })

  it('keeps a key called __proto__ a key', () => {
    const clean = redact(parseJson('{"__proto__":{"password":"x"}}'), KEYS)
    expect(writeJson(clean)).toBe(`{"__proto__":{"password":"${REDACTED}"}}`)
  })
})
