// Promise: settings can be written, checked, filtered and described without a server; `env` is understood by a shell.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY_NAMES } from '../../src/config/load.js'
import { cli } from '../support/cli.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-settings-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('config', () => {
  it('init writes a file that check takes, and never over another', async () => {
    const file = join(folder, 'noetl-cp.yaml')
    expect((await cli(['config', 'init', file])).code).toBe(0)
    expect(await cli(['config', 'check', '--config', file])).toMatchObject({ code: 0 })
    const text = await readFile(file, 'utf8')
    for (const key of KEY_NAMES) expect(text).toContain(`#${key}:`)
    const again = await cli(['config', 'init', file])
    expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining('exists already') })
    expect(await readFile(file, 'utf8')).toBe(text)
  })
  it('check names every problem', async () => {
    const bad = await cli(['config', 'check'], { env: { NOETL_PORT: 'x', NOETL_CP_LOG_FORMAT: 'y' } })
    expect(bad.code).toBe(78)
    expect(bad.stderr).toContain('NOETL_PORT')
    expect(bad.stderr).toContain('NOETL_CP_LOG_FORMAT')
  })
  it('show takes a filter', async () => {
    const shown = await cli(['config', 'show', 'outbox', '--json'])
    const names = Object.keys(JSON.parse(shown.stdout))
    expect(names.length).toBeGreaterThan(0)
    expect(names.length).toBeLessThan(KEY_NAMES.length)
    expect(names).not.toContain('httpPort')
    expect((await cli(['config', 'show', 'no such thing'])).code).toBe(3)
  })
  it('show tells what a daemon would use where a setting leaves it open', async () => {
    const cores = availableParallelism()
    const env = { NOETL_CP_WORKER_THREADS: '0', NOETL_CP_WORKER_PROCESSES: '7', XDG_DATA_HOME: folder }
    const shown = JSON.parse((await cli(['config', 'show', '--json'], { env })).stdout)
    expect(shown).toMatchObject({
      dataDir: { value: join(folder, 'noetl-cp'), source: 'default', because: expect.any(String) },
      workerDataDir: { value: join(folder, 'noetl-cp', 'worker') },
      workerThreads: { value: String(Math.max(2, cores)), source: 'env', because: 'number of cores' },
      stateThreads: { value: String(Math.max(1, cores - 1)), source: 'default', because: 'number of cores' },
      workerProcesses: { value: '7', source: 'env', because: null },
      subjectShardCount: { value: '1' },
      databaseUrl: { value: null, source: 'default', because: null },
    })
    const sharded = { NOETL_SHARDS: 'postgres://me:hunter2@a/one,postgres://me:hunter2@b/two', NOETL_SHARD_COUNT: '3' }
    const { stdout } = await cli(['config', 'show', 'shard', '--json'], { env: sharded })
    expect(JSON.parse(stdout)).toMatchObject({
      subjectShardCount: { value: '2', because: 'number of databases' },
      clusterDsn: { value: 'postgres://a:5432/one' },
      shardIndex: { value: '0', because: 'default' },
      shardCount: { value: '3', because: null },
    })
  })
  it('show has one line per setting on a terminal of 80 columns', async () => {
    const { stdout } = await cli(['config', 'show'], { columns: 80, env: { NO_COLOR: '1' } })
    const lines = stdout.split('\n').filter((line) => /\w/.test(line))
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines).toHaveLength(KEY_NAMES.length + 1)
  })
  it('check finds what only shows when the settings are put together', async () => {
    const bad = await cli(['config', 'check'], { env: { NOETL_NATS_URL: 'nats://127.0.0.1:4222' } })
    expect(bad).toMatchObject({ code: 78, stderr: expect.stringContaining('NOETL_DATABASE_URL') })
    const index = await cli(['config', 'check'], {
      env: { NOETL_DATABASE_URL: 'postgres://me@a/b', NOETL_SHARD_INDEX: '5' },
    })
    expect(index).toMatchObject({ code: 78, stderr: expect.stringContaining('NOETL_SHARD_INDEX') })
  })
  it('schema knows every setting', async () => {
    const { stdout } = await cli(['config', 'schema'])
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(KEY_NAMES)
  })
})

it('env is read by a shell, whatever the password is', async () => {
  const env = {
    NOETL_DATABASE_URL: `postgres://me:${encodeURIComponent("it's $HOME")}@db.example:6432/noetl`,
    NOETL_NATS_URL: 'nats://127.0.0.1:4222',
  }
  const { stdout, code } = await cli(['env', '--quiet'], { env })
  expect(code).toBe(0)
  const script = `${stdout}\nprintf '%s|%s|%s|%s' "$PGHOST" "$PGPORT" "$PGPASSWORD" "$NATS_URL"`
  const ran = await promisify(execFile)('sh', ['-c', script])
  expect(ran.stdout).toBe("db.example|6432|it's $HOME|nats://127.0.0.1:4222")
})
