// Promise: flag beats environment beats file beats default, for every setting. Every problem is reported at
// once with the setting's name, a bad value is never silently the default, and no secret is ever shown.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { KEYS, type KeyName, type Setting } from '../../src/config/keys.js'
import { type Flags, KEY_NAMES, loadConfig } from '../../src/config/load.js'
import { maskAddress, maskSetting } from '../../src/config/masked.js'
import { CpError } from '../../src/errors.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'

const folder = mkdtempSync(join(tmpdir(), 'noetl-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function file(text: string): string {
  files += 1
  const path = join(folder, `file${files}`)
  writeFileSync(path, text)
  return path
}

function problemsOf(env: Record<string, string>, flags: Flags = {}): string[] {
  try {
    loadConfig(env, flags)
  } catch (error) {
    expect(error).toBeInstanceOf(CpError)
    expect((error as CpError).code).toBe('config')
    const problems = (error as CpError).details['problems'] as string[]
    for (const problem of problems) expect((error as CpError).message).toContain(problem)
    return problems
  }
  return []
}

const row = (key: KeyName): Setting<unknown> => KEYS[key]

const CANDIDATES = [
  ...['1001', '1002', '1003'],
  ...['postgres://a@h1/x', 'postgres://a@h2/x', 'postgres://a@h3/x'],
  ...['nats://h1', 'nats://h2', 'tls://h3'],
  ...['http://h1', 'https://h2', 'http://h3'],
  ...['one', 'two', 'three'],
  ...['true', 'false'],
  ...['/console', '/one/console', '/two/console'],
  ...['a', 'b', 'c'].map((letter) => letter.repeat(32)),
]

/** Three texts that this setting accepts, different ones as far as it has them. */
function samples(key: KeyName): [string, string, string] {
  const { parser } = row(key)
  const bounds = /([\d.]+)\.\.([\d.]+)$/.exec(parser.type)?.slice(1) ?? []
  const accepted = [...bounds, ...parser.type.split('|'), ...CANDIDATES].filter((text) => {
    try {
      parser.parse(text)
      return true
    } catch {
      return false
    }
  })
  const [first, second = first, third = first] = accepted
  if (first === undefined) throw new Error(`no sample fits ${key} (${parser.type}); add one to CANDIDATES`)
  return [first, second!, third!]
}

// Settings that are only valid together with others.
const COMPANIONS: Partial<Record<KeyName, Record<string, string>>> = {
  tlsCert: { NOETL_TLS_KEY: 'k' },
  tlsKey: { NOETL_TLS_CERT: 'c' },
  tlsClientCa: { NOETL_TLS_CERT: 'c', NOETL_TLS_KEY: 'k' },
  natsTlsCert: { NOETL_NATS_TLS_KEY: 'k' },
  natsTlsKey: { NOETL_NATS_TLS_CERT: 'c' },
}

describe('precedence', () => {
  it.each(KEY_NAMES)('%s: flag, then environment, then file, then default', (key) => {
    const setting = row(key)
    const [inFlag, inEnv, inFile] = samples(key)
    const env = { ...COMPANIONS[key] }
    const config = file(`${key}: "${inFile}"\n`)
    const value = (text: string) => setting.parser.parse(text)

    const byDefault = loadConfig({})
    expect(byDefault.config[key]).toEqual(setting.default)
    expect(byDefault.origins[key].source).toBe('default')

    const fromFile = loadConfig(env, { config })
    expect(fromFile.config[key]).toEqual(value(inFile))
    expect(fromFile.origins[key]).toEqual({ source: 'file', name: config })
    expect(loadConfig({ ...env, NOETL_CP_CONFIG: config }).config[key]).toEqual(value(inFile))

    const fromEnv = loadConfig({ ...env, [setting.env]: inEnv }, { config })
    expect(fromEnv.config[key]).toEqual(value(inEnv))
    expect(fromEnv.origins[key]).toEqual({ source: 'env', name: setting.env })
    for (const alias of setting.envAliases) {
      expect(loadConfig({ ...env, [alias]: inEnv }, { config }).config[key], alias).toEqual(value(inEnv))
    }

    if (setting.flag === undefined) return
    const fromFlag = loadConfig({ ...env, [setting.env]: inEnv }, { config, [setting.flag]: inFlag })
    expect(fromFlag.config[key]).toEqual(value(inFlag))
    expect(fromFlag.origins[key]).toEqual({ source: 'flag', name: `--${setting.flag}` })
  })

  it('counts an empty variable as unset, also a _FILE one', () => {
    const { config, origins } = loadConfig({ NOETL_PORT: '', NOETL_API_TOKEN: '', NOETL_API_TOKEN_FILE: '' })
    expect(config.httpPort).toBe(8082)
    expect(config.apiToken).toBeUndefined()
    expect(origins.apiToken.source).toBe('default')
  })

  it('answers a frozen object', () => {
    expect(Object.isFrozen(loadConfig({}).config)).toBe(true)
  })
})

describe('bad values', () => {
  const bad: [string, string][] = [
    ['NOETL_PORT', '80.5'],
    ['NOETL_PORT', '65536'],
    ['NOETL_PORT', '-1'],
    ['NOETL_PORT', 'http'],
    ['POSTGRES_PORT', '5432x'],
    ['POSTGRES_MAX_CONNECTIONS', '1'],
    ['POSTGRES_MAX_CONNECTIONS', '1e2'],
    ['NOETL_CP_REQUEST_TIMEOUT', '0'],
    ['NOETL_CP_REQUEST_TIMEOUT', 'ten'],
    ['NOETL_CP_PG_QUERY_TIMEOUT', 'Infinity'],
    ['NOETL_AUTO_MIGRATE', 'maybe'],
    ['NOETL_DATABASE_URL', 'mysql://host/db'],
    ['NOETL_DATABASE_URL', 'not a url'],
    ['NOETL_NATS_URL', 'http://host'],
    ['NOETL_CP_LOG_LEVEL', 'loud'],
    ['NOETL_INTERNAL_API_TOKEN', '   '],
    ['NOETL_INTERNAL_API_TOKEN', 'fifteen-letters'],
    ['NOETL_INTERNAL_API_TOKEN_PREVIOUS', ' fifteen-letters '],
    ['NOETL_API_TOKEN', 'fifteen-letters'],
    ['NOETL_API_TOKEN_PREVIOUS', 'short'],
    ['NOETL_API_TOKEN', 'Change_Me-Change_Me-Change_Me'],
    ['NOETL_API_TOKEN', 'your-api-token-goes-here'],
    ['NOETL_INTERNAL_API_TOKEN', '<your internal token here>'],
    ['NOETL_HOST', '  '],
    ['NOETL_EVENT_NATS_SUBJECT_PREFIX', 'noetl.>'],
    ['NOETL_EVENT_NATS_SUBJECT_PREFIX', 'noetl..events'],
    ['NOETL_EVENT_NATS_SUBJECT_PREFIX', '$JS.API'],
    ['NOETL_EVENT_NATS_SUBJECT_PREFIX', 'noetl events'],
    ['NOETL_EVENT_NATS_STREAM', 'NOETL.EVENTS'],
  ]
  it.each(bad)('%s=%s is refused by name, never replaced by the default', (name, value) => {
    const problems = problemsOf({ [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name} `))
  })

  it('are all reported at once, whatever their source', () => {
    const config = file('workerThreads: many\nlogLevle: info\n')
    const problems = problemsOf(
      { NOETL_PORT: 'x', NOETL_AUTO_MIGRATE: '2', NOETL_TLS_CERT: 'c' },
      { config, host: ' ' },
    )
    expect(problems.map((problem) => problem.replaceAll(config, 'FILE')).sort()).toEqual([
      '--host must not be empty',
      'NOETL_AUTO_MIGRATE must be true or false, not "2"',
      'NOETL_CP_WORKER_THREADS (from FILE) must be an integer, not "many"',
      'NOETL_PORT must be an integer, not "x"',
      'NOETL_TLS_CERT and NOETL_TLS_KEY belong together; set both or neither',
      'config file FILE: unknown setting logLevle; did you mean logLevel?',
    ])
  })

  it('tell how to make a token', () => {
    for (const value of ['fifteen-letters', 'change-me-change-me'])
      expect(problemsOf({ NOETL_API_TOKEN: value })[0]).toContain('openssl rand -base64 32')
    expect(problemsOf({ NOETL_API_TOKEN: 'sixteen-letters-' })).toEqual([])
  })

  it('name the Kubernetes service link that sets NOETL_PORT', () => {
    const [problem] = problemsOf({ NOETL_PORT: 'tcp://10.0.0.1:8082' })
    expect(problem).toContain('Kubernetes')
    expect(problem).toContain('enableServiceLinks')
  })

  it('contradict each other in words', () => {
    expect(problemsOf({ NOETL_NATS_TOKEN: 't', NOETL_NATS_USER: 'u' })[0]).toContain('exclude each other')
    expect(problemsOf({ NOETL_TLS_CLIENT_CA: 'x' })[0]).toContain('needs NOETL_TLS_CERT')
    expect(problemsOf({ NOETL_NATS_TLS_KEY: 'x' })[0]).toContain('belong together')
  })
})

describe('misspelt names', () => {
  it('of ours get a warning with the nearest real one; others are none of our business', () => {
    const { warnings } = loadConfig({ NOETL_CP_LOG_LEVLE: 'info', NOETL_SOMETHING: 'x', NOETL_CP_ZZZZZZZZ: '1' })
    expect(warnings).toEqual([
      'unknown setting NOETL_CP_LOG_LEVLE; did you mean NOETL_CP_LOG_LEVEL?',
      'unknown setting NOETL_CP_ZZZZZZZZ',
    ])
  })
  it('that are right give no warning', () => {
    const env: Record<string, string> = { NOETL_CP_CONFIG: file('') }
    for (const key of KEY_NAMES) if (row(key).env.startsWith('NOETL_CP_')) env[row(key).env] = samples(key)[0]
    expect(loadConfig(env).warnings).toEqual([])
  })
})

describe('times', () => {
  it('are there in seconds, as they were given, and in milliseconds', () => {
    expect(loadConfig({ NOETL_CP_OUTBOX_LEASE: '3.5' }).config).toMatchObject({
      outboxLeaseSeconds: 3.5,
      outboxLeaseMs: 3500,
    })
  })

  it('may have their older name, without the unit, in a file', () => {
    const config = file('outboxLease: 4\n')
    expect(loadConfig({}, { config }).config.outboxLeaseMs).toBe(4000)
  })
})

describe('secrets from files', () => {
  it('are read without the newline at their end', () => {
    const { config, origins } = loadConfig({
      NOETL_INTERNAL_API_TOKEN_FILE: file(`${INTERNAL_TOKEN}\n`),
      NOETL_SHARDS_FILE: file('host=a;user=b;password=c\n'),
    })
    expect(config.internalToken).toBe(INTERNAL_TOKEN)
    expect(config.shards).toBe('host=a;user=b;password=c')
    expect(origins.internalToken).toEqual({ source: 'env', name: 'NOETL_INTERNAL_API_TOKEN_FILE' })
  })
  it.each(KEY_NAMES.filter((key) => row(key).secret))('%s: a value and a file at once is a conflict', (key) => {
    const name = row(key).env
    const problems = problemsOf({ [name]: samples(key)[0], [`${name}_FILE`]: file('x') })
    expect(problems).toEqual([`${name} and ${name}_FILE are both set; keep one`])
  })
  it('are only for secrets', () => {
    expect(loadConfig({ NOETL_HOST_FILE: file('example') }).config.httpHost).toBe('127.0.0.1')
  })
  it('that cannot be read are a problem with the path', () => {
    expect(problemsOf({ NOETL_API_TOKEN_FILE: '/no/such/file' })[0]).toMatch(
      /^NOETL_API_TOKEN_FILE: cannot read \/no\/such\/file/,
    )
  })
})

describe('the settings file', () => {
  it('keeps every value as it was written: YAML numbers and booleans are still text', () => {
    const config = file(
      'apiToken: 0123456789012345678\npostgresPassword: 1e3\nnatsToken: true\nallowedHosts: [a.example, b.example]\nhttpPort: 9000\nnatsUrl:\n',
    )
    const loaded = loadConfig({}, { config }).config
    expect(loaded.apiToken).toBe('0123456789012345678')
    expect(loaded.postgresPassword).toBe('1e3')
    expect(loaded.natsToken).toBe('true')
    expect(loaded.allowedHosts).toEqual(['a.example', 'b.example'])
    expect(loaded.httpPort).toBe(9000)
    expect(loaded.natsUrl).toBeUndefined()
  })
  it.each([
    ['a list', '- a\n', 'must be a mapping'],
    ['a nested value', 'httpPort: {a: 1}\n', 'must be a single value'],
    ['broken YAML', 'apiToken: "hunter2\nx: y: z\n', 'config file'],
  ])('refuses %s without showing what is in it', (_, text, expected) => {
    const [problem] = problemsOf({}, { config: file(text) })
    expect(problem).toContain(expected)
    expect(problem).not.toContain('hunter2')
  })
  it('that is missing is a problem', () => {
    expect(problemsOf({}, { config: '/no/such.yaml' })[0]).toContain('/no/such.yaml')
  })
})

describe('masking', () => {
  const SECRET = 'hunter2'
  it.each([
    ['databaseUrl', `postgres://user:${SECRET}@host:5432/db`, 'postgres://user:[REDACTED]@host:5432/db'],
    ['databaseUrl', `postgres://user:a@${SECRET}@host/db`, 'postgres://user:[REDACTED]@host/db'],
    [
      'databaseUrl',
      `postgres://host/db?password=${SECRET}&sslmode=require`,
      'postgres://host/db?password=[REDACTED]&sslmode=require',
    ],
    [
      'natsUrl',
      `nats://${SECRET}@host:4222,nats://u:${SECRET}@other`,
      'nats://[REDACTED]@host:4222,nats://u:[REDACTED]@other',
    ],
    ['natsUrl', `${SECRET}@host:4222`, 'nats://[REDACTED]@host:4222'],
    ['shards', `host=a;user=b;password=${SECRET}`, 'host=a;user=b;password=[REDACTED]'],
    [
      'shards',
      `postgres://u:${SECRET}@h/d,host=a;user=b;password=${SECRET}`,
      'postgres://u:[REDACTED]@h/d,host=a;user=b;password=[REDACTED]',
    ],
    ['apiToken', SECRET.repeat(3), '********'],
    ['apiToken', `odd://user:${SECRET}@host`, '********'],
    ['postgresPassword', SECRET, '********'],
  ] as [KeyName, string, string][])('%s: %s is shown as %s', (key, text, shown) => {
    expect(maskSetting(row(key), row(key).parser.parse(text))).toBe(shown)
  })
  it('leaves text without credentials alone', () => {
    expect(maskAddress('see https://example.org/a@b and mail me@example.org')).toBe(
      'see https://example.org/a@b and mail me@example.org',
    )
  })
  it.each(KEY_NAMES.filter((key) => row(key).secret))('a bad %s is not repeated in the message', (key) => {
    for (const text of [`${SECRET}://${SECRET}`, ` ${SECRET}:${SECRET}@ /`, `\u0000${SECRET}`]) {
      for (const problem of problemsOf({ [row(key).env]: text })) expect(problem).not.toContain(SECRET)
    }
  })
})
