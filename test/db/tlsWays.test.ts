// Promise: whichever way a database is named, TLS can be switched on for it; where it is off beyond this machine,
// doctor says so.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Environment, type Flags, loadConfig } from '../../src/config/load.js'
import { openDeps } from '../../src/daemon/deps.js'
import { embeddedEndpoints, productionEndpoints } from '../../src/daemon/endpoints.js'
import { createLog } from '../../src/runtime/log.js'
import { encryptionFindings } from '../../src/services/health/doctor.js'

const folder = mkdtempSync(join(tmpdir(), 'noetl-tls-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(text: string): Flags {
  const path = join(folder, 'settings.yaml')
  writeFileSync(path, text)
  return { config: path }
}

async function databasesOf(env: Environment, flags: Flags = {}, embedded = false) {
  const { config } = loadConfig(env, flags)
  const own = {
    databaseUrl: 'postgres://u:p@127.0.0.1:1/noetl',
    natsUrl: 'nats://127.0.0.1:1',
    natsToken: 'token-of-our-own-nats-server',
    internalToken: 'token-of-our-own-daemon',
  }
  const endpoints = embedded ? embeddedEndpoints(config, own, []) : productionEndpoints(config)
  const log = createLog({ level: 'silent', format: 'json', isTerminal: false, color: false, stream: process.stderr })
  // Nothing is connected before it is used.
  const deps = openDeps({ config, endpoints: { ...endpoints, nats: undefined }, log, applicationName: 'test' })
  await deps.close(1_000)
  return deps.databases.all
}

const URL_OF = (host: string, mode?: string) =>
  `postgres://u:p@${host}/noetl${mode === undefined ? '' : `?sslmode=${mode}`}`
const WAYS: [string, Environment, (() => Flags)?][] = [
  ['a URL', { NOETL_DATABASE_URL: URL_OF('db.example', 'require') }],
  ['a URL and the setting', { NOETL_DATABASE_URL: URL_OF('db.example'), POSTGRES_SSLMODE: 'verify-full' }],
  ['a flag', {}, () => ({ 'database-url': URL_OF('db.example', 'verify-full') })],
  ['the POSTGRES_ family', { POSTGRES_HOST: 'db.example', POSTGRES_SSLMODE: 'verify-full' }],
  ['the name that libpq has', { POSTGRES_HOST: 'db.example', PGSSLMODE: 'require' }],
  ['a settings file', {}, () => file('postgresHost: db.example\npostgresSslMode: verify-ca\n')],
  ['shards as URLs', { NOETL_SHARDS: `${URL_OF('a.example', 'require')},${URL_OF('b.example', 'verify-full')}` }],
  ['shards as pairs', { NOETL_SHARDS: 'host=a.example;user=u;sslmode=require,host=b.example;user=u;sslmode=require' }],
  [
    'shards and the setting',
    { NOETL_SHARDS: `host=a.example;user=u,${URL_OF('b.example')}`, POSTGRES_SSLMODE: 'require' },
  ],
  [
    'a database for the cluster',
    {
      NOETL_SHARDS: URL_OF('a.example', 'require'),
      NOETL_CLUSTER_DSN: 'host=c.example;user=u;sslmode=require',
    },
  ],
]

describe('TLS', () => {
  it.each(WAYS)('can be switched on for %s', async (_, env, flags) => {
    const databases = await databasesOf(env, flags?.())
    expect(databases.length).toBeGreaterThan(0)
    for (const database of databases) {
      expect(database.settings.tls, database.label).not.toBe(false)
      expect(encryptionFindings(database)).toEqual([])
    }
  })

  it('is not asked of our own Postgres, which is on this machine', async () => {
    const [database] = await databasesOf({ POSTGRES_SSLMODE: 'verify-full' }, {}, true)
    expect(database!.settings.tls).toBe(false)
  })
})

describe('doctor', () => {
  it.each(['db.example', '10.0.0.7', '2001:db8::1'])('tells that the way to %s is open', async (host) => {
    for (const mode of ['disable', 'prefer']) {
      const [database] = await databasesOf({ POSTGRES_HOST: host, POSTGRES_SSLMODE: mode })
      expect(encryptionFindings(database!)).toMatchObject([
        { level: 'advice', finding: expect.stringContaining(host), fix: expect.stringContaining('POSTGRES_SSLMODE') },
      ])
    }
  })

  it.each(['127.0.0.1', 'localhost', '::1', '/var/run/postgresql'])('is content with %s', async (host) => {
    const [database] = await databasesOf({ POSTGRES_HOST: host })
    expect(encryptionFindings(database!)).toEqual([])
  })
})
