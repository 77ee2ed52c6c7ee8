// Promise: where a write could start code it needs a token; our own commands have it; storing the first credential closes
// a running daemon; an operator who opens it again is told so; and no setting lets web pages of other sites in.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, sql, type TestDatabase } from '../support/database.js'
import { newDataFolder, removeDataFolders } from '../support/dataFolder.js'
import { until } from '../support/until.js'

const daemons: Daemon[] = []
const databases: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop('SIGKILL')))
  await Promise.all(databases.splice(0).map((database) => database.drop()))
  await removeDataFolders()
})

async function write(daemon: Daemon, headers: Record<string, string> = {}): Promise<number> {
  const body = JSON.stringify({ content: 'apiVersion: noetl.io/v2\nkind: Nothing\n' })
  const answer = await fetch(new URL('/api/catalog/register', daemon.url), { method: 'POST', headers, body })
  await answer.text()
  return answer.status
}

describe('an embedded instance that may run tools', () => {
  it('wants its token for writes, keeps it private, and hands it to our commands', async () => {
    const folder = await newDataFolder()
    const daemon = await startDaemon(['--data-dir', folder], { env: { NOETL_CP_WORKER_ALLOW: 'python,http' } })
    daemons.push(daemon)
    expect(daemon.stdout()).toContain('writes need the token')
    expect((await daemon.get('/api/executions')).status).toBe(200)
    expect(await write(daemon)).toBe(403)
    for (const file of ['secrets.json', 'runtime.json']) {
      expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600)
    }
    const { apiToken } = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'))
    expect(await write(daemon, { authorization: `Bearer ${apiToken}` })).not.toBe(403)
    expect(
      (await daemon.get('/api/internal/outbox/pending-count', { authorization: `Bearer ${apiToken}` })).status,
    ).toBe(403)
    const demo = await builtCli(['demo', '--data-dir', folder])
    expect(demo, demo.stderr).toMatchObject({ code: 0 })
    expect(daemon.stdout() + daemon.stderr() + demo.stdout + demo.stderr).not.toContain(apiToken)
    expect((await builtCli(['doctor', '--data-dir', folder])).stdout).not.toContain('NOETL_ALLOW_OPEN_API')
  })
})

describe('a daemon on a database of its own', () => {
  async function serve(env: Record<string, string>): Promise<{ daemon: Daemon; database: TestDatabase }> {
    const database = await cloneDatabase(inject('servers'))
    databases.push(database)
    const daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.url, ...env } })
    daemons.push(daemon)
    return { daemon, database }
  }
  const storeCredential = (database: TestDatabase) =>
    sql({ databaseUrl: database.url }, "create table noetl.credential as select 'pg'::text as name")

  it('closes its writes when the first credential is stored', async () => {
    const { daemon, database } = await serve({})
    expect(await write(daemon)).not.toBe(403)
    await storeCredential(database)
    await until('writes need a token', async () => (await write(daemon)) === 403, { timeoutMs: 120_000 })
    expect((await daemon.get('/api/executions')).status).toBe(200)
    expect((await daemon.get('/metrics')).text).toContain('noetl_cp_api_protection{level="writes_token"} 1')
  })

  it('is open again when the operator says so, tells the doctor, and still keeps web pages out', async () => {
    const { daemon, database } = await serve({ NOETL_ALLOW_OPEN_API: 'true', NOETL_CP_WORKER_ALLOW: 'python' })
    await storeCredential(database)
    expect(await write(daemon)).not.toBe(403)
    const port = new URL(daemon.url).port
    // Without the setting in its own environment: the daemon is the one to know.
    const doctor = await builtCli(['doctor'], { env: { NOETL_DATABASE_URL: database.url, NOETL_PORT: port } })
    expect(doctor.stdout).toContain('NOETL_ALLOW_OPEN_API')
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'http://localhost:3000' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[]) {
      expect(await write(daemon, headers), JSON.stringify(headers)).toBe(403)
    }
    expect(await write(daemon, { origin: daemon.url })).not.toBe(403)
  })
})
