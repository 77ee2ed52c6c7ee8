// Promise: a credential is stored sealed and read whole by those who may; its values stand in no table, answer, list or
// message in the open; a key can be replaced without losing one.
import { describe, expect, it } from 'vitest'
import { startDaemon } from '../support/binary.js'
import { cli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'

const database = useDatabase()
const OLD_KEY = 'an-old-key-of-at-least-thirty-two-characters'
const NEW_KEY = 'a-newer-key-of-at-least-thirty-two-characters'
const VALUES = { db_host: 'db.example', db_user: 'etl', db_password: 'tr0ub4dor&3 is secret' }

const command = (args: readonly string[], options: { input?: string; key?: string } = {}) =>
  cli(args, {
    env: { NOETL_DATABASE_URL: database.get().url, NOETL_CP_CREDENTIALS_KEY: options.key ?? OLD_KEY },
    input: options.input ?? '',
  })
const storedText = async (): Promise<string> =>
  JSON.stringify(await database.get().sql('select c::text from noetl.stored_credential as c'))

describe('a credential', () => {
  it('is stored sealed, listed and shown without its values, and given with --data', async () => {
    const set = await command(['credential', 'set', 'pg_main', '--type', 'postgres', '--tags', 'etl,prod'], {
      input: JSON.stringify(VALUES),
    })
    expect(set).toMatchObject({ code: 0, stdout: 'stored pg_main (postgres)\n' })
    expect(await storedText()).not.toContain(VALUES.db_password)
    for (const args of [['list'], ['show', 'pg_main'], ['list', '--json']]) {
      const { code, stdout } = await command(['credential', ...args])
      expect({ code, named: stdout.includes('pg_main') }).toEqual({ code: 0, named: true })
      expect(stdout).not.toContain(VALUES.db_password)
    }
    const shown = await command(['credential', 'show', 'pg_main', '--data', '--json'])
    expect(JSON.parse(shown.stdout).data).toEqual(VALUES)
  })

  it('is replaced under its name and keeps its id', async () => {
    const before = JSON.parse((await command(['credential', 'show', 'pg_main', '--json'])).stdout)
    await command(['credential', 'set', 'pg_main', '--type', 'postgres'], { input: '{"db_password":"another"}' })
    const after = JSON.parse((await command(['credential', 'show', 'pg_main', '--data', '--json'])).stdout)
    expect(after).toMatchObject({ id: before.id, data: { db_password: 'another' } })
  })

  it('is refused with a sentence: a bad name, no map, no type, no key', async () => {
    const refused = async (args: readonly string[], input: string, key?: string) => {
      const { code, stderr } = await command(['credential', 'set', ...args], {
        input,
        ...(key !== undefined && { key }),
      })
      return { code, stderr }
    }
    expect(await refused(['a b', '--type', 'x'], '{}')).toMatchObject({ code: 2 })
    expect(await refused(['a', '--type', 'x'], '[1]')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('JSON map'),
    })
    expect(await refused(['a'], '{}')).toMatchObject({ code: 2, stderr: expect.stringContaining('--type') })
    expect(await refused(['a', '--type', 'x'], '{}', '')).toMatchObject({
      stderr: expect.stringContaining('NOETL_CP_CREDENTIALS_KEY'),
    })
    expect((await command(['credential', 'show', 'nowhere'])).code).toBe(3)
    expect((await command(['credential', 'delete', 'nowhere', '--yes'])).code).toBe(3)
  })

  it('survives a change of keys: the newest seals, older ones open until everything is sealed anew', async () => {
    const both = `${NEW_KEY} ${OLD_KEY}`
    await command(['credential', 'set', 'rotating', '--type', 'bearer'], { input: '{"token":"abcdef"}', key: OLD_KEY })
    expect((await command(['credential', 'show', 'rotating', '--data'], { key: both })).code).toBe(0)
    expect(JSON.parse((await command(['credential', 'rekey', '--json'], { key: both })).stdout)).toEqual({
      resealed: 2,
    })
    const shown = await command(['credential', 'show', 'rotating', '--data', '--json'], { key: NEW_KEY })
    expect(JSON.parse(shown.stdout).data).toEqual({ token: 'abcdef' })
    expect((await command(['credential', 'show', 'rotating', '--data'], { key: OLD_KEY })).stderr).toContain(
      'not at hand',
    )
  })
})

describe('over HTTP', () => {
  it('the internal token stores and reads values; without it they are refused, and lists never have them', async () => {
    const daemon = await startDaemon([], {
      env: {
        NOETL_DATABASE_URL: database.get().url,
        NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
        NOETL_CP_CREDENTIALS_KEY: OLD_KEY,
      },
    })
    try {
      const call = async (method: string, path: string, body?: object, internal = true) => {
        const answer = await fetch(new URL(path, daemon.url), {
          method,
          headers: {
            ...(internal && { authorization: `Bearer ${INTERNAL_TOKEN}` }),
            ...(body && { 'content-type': 'application/json' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        })
        return { status: answer.status, text: await answer.text() }
      }
      const stored = await call('POST', '/api/credentials', {
        name: 'api',
        type: 'bearer',
        data: { token: 's3cr3t-value' },
      })
      expect(JSON.parse(stored.text)).toMatchObject({ id: expect.stringMatching(/^\d+$/), name: 'api', data: null })
      expect((await call('POST', '/api/credentials', { name: 'api', type: 'bearer', data: {} }, false)).status).toBe(
        403,
      )
      const whole = await call('GET', '/api/credentials/api?include_data=true&execution_id=7')
      expect(JSON.parse(whole.text).data).toEqual({ token: 's3cr3t-value' })
      for (const [path, status] of [
        ['/api/credentials/api?include_data=true', 403],
        ['/api/credentials/api', 200],
        ['/api/credentials', 200],
        ['/api/credentials/none', 404],
      ] as const) {
        const answer = await call('GET', path, undefined, false)
        expect({ path, status: answer.status }).toEqual({ path, status })
        expect(answer.text).not.toContain('s3cr3t-value')
      }
      expect((await call('GET', '/metrics')).text).toContain('noetl_cp_credential_reads_total 1')
      expect((await call('DELETE', '/api/credentials/api')).status).toBe(200)
      expect((await call('GET', '/api/credentials/api')).status).toBe(404)
    } finally {
      await daemon.stop()
    }
    expect(daemon.stdout() + daemon.stderr()).not.toContain('s3cr3t-value')
    const reading = daemon
      .stderr()
      .split('\n')
      .find((line) => line.includes('the values of a credential were read'))
    expect(JSON.parse(reading!)).toMatchObject({ credentialName: 'api', executionId: '7' })
  })
})
