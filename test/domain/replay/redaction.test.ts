// Promise: what looks like a secret does not leave; what merely sounds like one keeps its scalars.

import { describe, expect, it } from 'vitest'
import { Float, type JsonValue } from '../../../src/domain/json/value.js'
import { isSensitiveKey, looksLikeSecret, REDACTED, redact } from '../../../src/domain/replay/redaction.js'

describe('redact', () => {
  it.each([
    'postgres://user:pass@host/db',
    'Bearer abc',
    'Basic dXNlcjpw',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig',
    'sk-abcdefghij',
    'key: AIzaSyA1234567890abcd',
    'ya29.a0Af',
    'ghp_0123456789abcdef',
    'github_pat_0123456789',
    'xoxb-0123456789-abcd',
    '-----BEGIN RSA PRIVATE KEY-----',
    'https://host/x?a=1&access_token=abc',
  ])('hides %s', (text) => {
    expect(looksLikeSecret(text)).toBe(true)
    expect(redact({ note: text, list: [text] })).toEqual({ note: REDACTED, list: [REDACTED] })
  })

  it.each([
    'https://host/path',
    'Bearer',
    'sk-short',
    '{{ ghp_0123456789abcdef }}',
    'return sk-abcdefghijk',
    'plain text',
  ])('leaves %s', (text) => expect(looksLikeSecret(text)).toBe(false))

  it('takes lists and objects away under a sensitive key, scalars only if they look like it', () => {
    const value: JsonValue = {
      author: { name: 'x' },
      token_counts: [1, 2],
      'API-Key': 'plain',
      password: 'Bearer x',
      secret: 7,
      secret_ratio: new Float(1),
      credentials: { $noetl_ref: { kind: 'keychain', name: 'k' } },
      credential: { $noetl_ref: { kind: 'keychain' }, more: 1 },
    }
    expect(redact(value)).toEqual({
      author: REDACTED,
      token_counts: REDACTED,
      'API-Key': 'plain',
      password: REDACTED,
      secret: 7,
      secret_ratio: new Float(1),
      credentials: { $noetl_ref: { kind: 'keychain', name: 'k' } },
      credential: REDACTED,
    })
  })

  it('knows its keys and leaves the input alone', () => {
    for (const key of ['x_Secret', 'oauth', 'connectionString', 'PEM', 'certainty', 'gcp-key']) {
      expect(isSensitiveKey(key)).toBe(true)
    }
    for (const key of ['status', 'row_count', 'key', 'node_name']) expect(isSensitiveKey(key)).toBe(false)
    const input = { a: ['Bearer x'] }
    redact(input)
    expect(input).toEqual({ a: ['Bearer x'] })
  })
})
