// Promise: a secret is known by the words of its name or by its form, wherever it stands; what only sounds like one
// stays; what was taken out can be put back exactly; and no text takes more than linear time.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { hide, REDACTED, redact, redactText, reveal } from '../../src/domain/secrets/redact.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { growthOf, RATIO_MAX } from '../support/growth.js'

const RULES = secretRules()
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s5aBcDeFgH'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----'

describe('names', () => {
  it.each([
    ...['password', 'PASSWORD', 'api_key', 'apiKey', 'X-Api-Key', 'access-token', 'Authorization', 'privateKey'],
    ...['db_password', 'github_token', 'PGPASSWORD', 'MYSQL_PWD', 'dbPassword2', 'password_confirmation', 'authToken'],
    ...[
      'TOKEN_GITHUB',
      'clientSecret',
      'clientsecret',
      'aws_secret_access_key',
      'spring.datasource.password',
      'Set-Cookie',
    ],
    ...['api\u212aey', 'pgpass', 'htpasswd', 'conn_string', 'storage-key', 'x.jwt', 'cookies', 'passcode', 'bearer'],
    ...['connectionString', 'secretKeyBase', 'OAUTH_ACCESS_TOKEN', 'idToken', 'sshKey', 'service_account_json', 'dsn'],
  ])('%s hides its value', (key) => {
    expect(redact({ [key]: 'x' }, RULES)).toEqual({ [key]: REDACTED })
    expect(redact({ deep: [{ [key]: { a: [1] } }] }, RULES)).toEqual({ deep: [{ [key]: REDACTED }] })
  })

  it.each([
    ...['author', 'authorized_count', 'tokens_used', 'certified', 'token_count', 'secretary', 'passwords_changed'],
    ...['auth', 'key', 'max_tokens_limit', 'token_type', 'token_expires_at', 'token_url', 'secret_name', 'public_key'],
    ...['monkey', 'keyboard', 'password_length', 'compass', 'tokenizer'],
  ])('%s survives', (key) => {
    const value = { [key]: 'x', nested: [{ [key]: 5 }] }
    expect(redact(value, RULES)).toBe(value)
  })

  it('of the installation hide theirs, written together or apart', () => {
    const rules = secretRules(['shoe_size', 'mothersName'])
    for (const key of ['shoe_size', 'shoeSize', 'shoesize', 'SHOE-SIZE', 's_hoe_size', 'mothers_name']) {
      expect(redact({ [key]: 'x' }, rules), key).toEqual({ [key]: REDACTED })
    }
    expect(redact({ shoe: 'x', size: 'x' }, rules)).toEqual({ shoe: 'x', size: 'x' })
  })

  it('hide whole structures and numbers, but no flags, nothing, or references to the keychain', () => {
    const reference = { $noetl_ref: { kind: 'keychain', name: 'pg' } }
    const open = { password: null, jwt: true, cookie: '', dsn: reference, tokens: 512, max_tokens: 4096, secrets: [] }
    expect(
      redact(
        { credentials: { user: 'u' }, token: [1], pwd: 1234, secret: new Float(1), big: { token: 2n ** 70n }, ...open },
        RULES,
      ),
    ).toEqual({
      credentials: REDACTED,
      token: REDACTED,
      pwd: REDACTED,
      secret: REDACTED,
      big: { token: REDACTED },
      ...open,
    })
    expect(redact({ tokens: ['a', 'b'], passwords: 'x' }, RULES)).toEqual({ tokens: REDACTED, passwords: REDACTED })
  })

  it('can be added, by word as well', () => {
    const rules = secretRules(['pin', 'customer-number'])
    expect(redact({ pin: 1, cardPin: 2, customerNumber: 3, pinned: 4, password: 'x' }, rules)).toEqual({
      pin: REDACTED,
      cardPin: REDACTED,
      customerNumber: REDACTED,
      pinned: 4,
      password: REDACTED,
    })
  })
})

describe('text', () => {
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
    [`a ${JWT} b ${JWT}.`, `a ${REDACTED} b ${REDACTED}.`],
    ['cannot reach postgres://user:p4ss@host:5432/db now', `cannot reach postgres://user:${REDACTED}@host:5432/db now`],
    ['nats://s3cr3t@host:4222,nats://u:p@h2', `nats://${REDACTED}@host:4222,nats://u:${REDACTED}@h2`],
    ['https://host/x?a=1&access_token=abc#top', `https://host/x?a=1&access_token=${REDACTED}`],
    ['https://host/x?key=AbC123&b=2', `https://host/x?key=${REDACTED}&b=2`],
    ['https://b/o?X-Amz-Signature=0af3&X-Amz-Date=1', `https://b/o?X-Amz-Signature=${REDACTED}&X-Amz-Date=1`],
    ['host=db user=u password=hunter2 dbname=x', `host=db user=u password=${REDACTED} dbname=x`],
    ['PGPASSWORD=hunter2 psql -c 1', `PGPASSWORD=${REDACTED} psql -c 1`],
    ["db_password = 'hunter 2', x", `db_password = '${REDACTED}', x`],
    ['{"user":"u","github_token":"abc","n":1}', `{"user":"u","github_token":"${REDACTED}","n":1}`],
    ['"{\\"password\\":\\"hunter2\\"}"', `"{\\"password\\":\\"${REDACTED}\\"}"`],
    ['login failed, password: hunter2!', `login failed, password: ${REDACTED}`],
    ['mysql --password hunter2 -u x --token=abc', `mysql --password ${REDACTED} -u x --token=${REDACTED}`],
    ['user[password]=hunter2&x=1', `user[password]=${REDACTED}&x=1`],
    ['sk-proj1234567890', REDACTED],
    ['key: AIzaSyA1234567890abcd', `key: ${REDACTED}`],
    ['ghp_0123456789abcdef', REDACTED],
    ['github_pat_0123456789', REDACTED],
    ['xoxb-0123456789-abcd', REDACTED],
  ])('%j becomes %j', (text, clean) => {
    expect(redactText(text, RULES)).toBe(clean)
    expect(redact({ note: [text] }, RULES)).toEqual({ note: [clean] })
    expect(redactText(clean, RULES)).toBe(clean)
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
    'password authentication failed for user "x"',
    'invalid token: expected a comma',
    'https://host/path?page=2&sort=key',
    'ssh://git@host/repo.git',
    'postgres://{{ user }}:{{ password }}@host/db',
    'Authorization: Bearer {{ login.access_token }}',
    'import sk-learn-estimators',
    '12:30:00 done: key=value',
    'a=b',
  ])('%j survives', (text) => {
    expect(redactText(text, RULES)).toBe(text)
  })
})

describe('shape', () => {
  it('keeps input, keys, numbers and idempotence', () => {
    const value = fc.jsonValue().map((plain) => parseJson(JSON.stringify(plain)))
    fc.assert(
      fc.property(value, (input: JsonValue) => {
        const before = writeJson(input)
        const once = redact(input, RULES)
        expect(writeJson(input)).toBe(before)
        expect(redact(once, RULES)).toBe(once)
      }),
    )
  })

  it('keeps a key called __proto__ a key', () => {
    const clean = redact(parseJson('{"__proto__":{"password":"x"}}'), RULES)
    expect(writeJson(clean)).toBe(`{"__proto__":{"password":"${REDACTED}"}}`)
  })

  it('gives back exactly what was taken out', () => {
    const names = fc.constantFrom('password', 'a/b', 'x~1', '__proto__', 'token', 'note', '0', '')
    const texts = fc.constantFrom('hunter2', 'postgres://u:p@h', 'plain', JWT, 'token=abc')
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        texts,
        fc.constantFrom<JsonValue>(1, null, true, 2n ** 70n, new Float(2)),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, (input) => {
        const hidden: JsonObject = {}
        const shown = hide(input, RULES, hidden)
        expect(writeJson(shown)).toBe(writeJson(redact(input, RULES)))
        expect(writeJson(reveal(shown, parseJson(writeJson(hidden)) as JsonObject))).toBe(writeJson(input))
      }),
    )
  })
})

describe('hostile text', () => {
  // Each unit repeated.
  const units = [
    ...[
      'eyJ',
      'eyJ-',
      'eyJaaaaaaaa.',
      'eyJaaaaaa-eyJ',
      '-----BEGIN PRIVATE KEY-----',
      'bearer ',
      'Bearer a.',
      'basic dXNl',
    ],
    ...['://', 'a://b:', 'http://u:p@', '://:@', 'token=', 'token=x{{', 'token="', "token='", 'token="\\', 'token=\\"'],
    ...['password: ', '"password":"', 'a-', 'a=', 'a.b-c:', '--token ', '--a "', 'sk-', 'gh', 'xoxb-', '[REDACTED]'],
    ...['token=x[REDACTED]', '?key=', '&sig=a', 'token\\', '\\"token', 'AIza', 'token]', ' :', 'password    ', '%'],
  ]

  it.each(units)('%j repeated takes linear time', (unit) => {
    const make = (size: number): string => unit.repeat(Math.ceil(size / unit.length))
    const work = (size: number) => {
      const text = make(size)
      return () => redactText(text, RULES)
    }
    expect(growthOf(work, 50_000)?.ratio ?? 0).toBeLessThanOrEqual(RATIO_MAX)
  })
})
