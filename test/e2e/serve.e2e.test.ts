// Promise: `noetl-cp serve` alone gives a working daemon on its own servers; other commands find it; it stops
// without a trace on a signal and after kill -9; data survives every end; it works as root and as anybody else.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { BINARY, type Daemon, EndedEarly, type RunOptions, runBinary, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { sql } from '../support/database.js'
import { newDataFolder, nothingRunsIn, removeDataFolders } from '../support/dataFolder.js'
import { isAlive, processesMentioning, processTree } from '../support/processes.js'
import { API_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const daemons: Daemon[] = []
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop('SIGKILL')))
  await removeDataFolders()
})

/** One that a daemon has used before: making a database is most of a first start, and few tests are about that. */
async function usedFolder(): Promise<string> {
  used ??= (async () => {
    const folder = await newDataFolder()
    await (await serve(folder)).stop()
    const kept = await mkdtemp(join(tmpdir(), 'noetl-used-'))
    await rename(folder, join(kept, 'data'))
    return kept
  })()
  const kept = await used
  const folder = await newDataFolder()
  execFileSync('cp', ['-a', join(kept, 'data'), folder])
  return folder
}

let used: Promise<string> | undefined
afterAll(async () => {
  if (used !== undefined) await rm(await used, { recursive: true, force: true })
})

async function serve(folder: string, options: RunOptions = {}): Promise<Daemon> {
  const daemon = await startDaemon(['--data-dir', folder], options)
  daemons.push(daemon)
  return daemon
}

interface RuntimeFile {
  databaseUrl: string
  internalToken: string
  natsToken: string
  pid: number
}
const runtimeFile = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'runtime.json'), 'utf8')) as RuntimeFile

async function keepSomething(folder: string): Promise<void> {
  await sql(await runtimeFile(folder), "create table kept as select 'still here' as value")
}
async function stillThere(folder: string): Promise<void> {
  expect(await sql(await runtimeFile(folder), 'select value from kept')).toEqual([{ value: 'still here' }])
}

describe('serve with nothing configured', () => {
  it('tells where everything is, is found by the other commands, refuses a second one, and leaves no trace', async () => {
    const folder = await newDataFolder()
    const daemon = await serve(folder)
    const banner = daemon.stdout()
    expect(banner).toMatch(/^noetl-cp \S+ is ready \(\d+\.\d s\)$/m)
    expect(banner).toMatch(/^ {2}API +http:\/\/127\.0\.0\.1:\d+ {2}\(open on this machine only/m)
    expect(banner).toMatch(/^ {2}Postgres +127\.0\.0\.1:\d+\/noetl {2}\(embedded, pid \d+\)$/m)
    expect(banner).toMatch(/^ {2}NATS +nats:\/\/127\.0\.0\.1:\d+ {2}\(embedded, pid \d+\)$/m)
    expect(banner).toContain(folder)
    expect(banner).toContain(`status --data-dir ${folder}`)
    // Its console tells commands as they are called here.
    const { call } = (await daemon.get('/api/session')).body
    expect(banner).toContain(call.replace('{}', 'status'))

    expect((await daemon.get('/livez')).status).toBe(200)
    const ready = await daemon.get('/readyz')
    expect(ready.status).toBe(200)
    expect(ready.body.checks).toMatchObject({
      postgres: { ok: true, required: true },
      nats: { ok: true, required: true },
    })
    expect((await daemon.get('/api/health')).body).toMatchObject({
      status: 'ok',
      database: 'connected',
      nats: 'connected',
    })
    const metrics = (await daemon.get('/metrics')).text
    expect(metrics).toContain('noetl_cp_dependency_up{dependency="postgres"} 1')
    expect(metrics).toContain('noetl_cp_dependency_up{dependency="nats"} 1')
    expect(metrics).toContain('process_cpu_seconds_total')

    const status = await builtCli(['status', '--data-dir', folder])
    expect(status).toMatchObject({ code: 0, stderr: '' })
    expect(status.stdout).toContain(daemon.url)
    expect(status.stdout).toMatch(/postgres +│ up/)
    const asJson = await builtCli(['status', '--json', '--data-dir', folder])
    expect(JSON.parse(asJson.stdout)).toMatchObject({ daemon: { ready: true, pid: daemon.pid, mode: 'embedded' } })
    const doctor = await builtCli(['doctor', '--json', '--data-dir', folder])
    expect(doctor.code).toBe(0)
    expect(JSON.parse(doctor.stdout).problems).toBe(0)

    const second = await runBinary(['serve', '--port', '0', '--data-dir', folder])
    expect(second.code).toBe(4)
    expect(second.stderr).toContain(`process ${daemon.pid}`)
    expect((await daemon.get('/readyz')).status).toBe(200)

    const secrets = await runtimeFile(folder)
    const everything = [
      daemon.stdout(),
      daemon.stderr(),
      status.stdout,
      asJson.stdout,
      doctor.stdout,
      second.stderr,
    ].join('')
    for (const secret of [secrets.internalToken, secrets.natsToken, new URL(secrets.databaseUrl).password]) {
      expect(everything).not.toContain(secret)
    }

    const family = processTree(daemon.pid)
    expect(family.length).toBeGreaterThan(2)
    expect(await daemon.stop('SIGTERM')).toMatchObject({ code: 0, signal: null })
    expect(family.filter(isAlive)).toEqual([])
    expect(processesMentioning(folder)).toEqual([])
    expect(existsSync(join(folder, 'runtime.json'))).toBe(false)
    expect((await builtCli(['status', '--data-dir', folder])).code).toBe(69)
  })

  it('keeps its data over SIGTERM, over kill -9, and has no orphans in between', async () => {
    const folder = await usedFolder()
    const first = await serve(folder)
    await keepSomething(folder)
    await first.stop('SIGINT')

    const second = await serve(folder)
    await stillThere(folder)
    expect(await second.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    // At once: the next start meets servers that are still being stopped.
    const third = await serve(folder)
    await stillThere(folder)
    await third.stop('SIGKILL')
    await nothingRunsIn(folder)
    const status = await builtCli(['status', '--data-dir', folder])
    expect(status).toMatchObject({ code: 69, stderr: expect.stringContaining('no daemon is running') })
  })

  it('restarts a server of its own that dies, and is ready again', async () => {
    const folder = await usedFolder()
    const daemon = await serve(folder)
    const pids = [...daemon.stdout().matchAll(/embedded, pid (\d+)/g)].map((match) => Number(match[1]))
    expect(pids).toHaveLength(2)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await until('both run again', () => (daemon.stderr().match(/ runs again/g) ?? []).length === 2)
    await until('it is ready again', async () => (await daemon.get('/readyz')).status === 200, { timeoutMs: 120_000 })
    expect((await daemon.get('/livez')).status).toBe(200)
    expect((await daemon.stop()).code).toBe(0)
    await nothingRunsIn(folder)
  })
})

describe('signals', () => {
  /** A request whose body never ends holds up a graceful stop. */
  async function hangingRequest(daemon: Daemon): Promise<net.Socket> {
    const { hostname, port } = new URL(daemon.url)
    const socket = net.connect(Number(port), hostname)
    socket.on('error', () => undefined)
    const request = 'POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nx'
    await new Promise((resolve) => socket.write(request, resolve))
    // The next request on another connection is answered after the daemon has seen this one.
    await daemon.get('/livez')
    return socket
  }

  it('a second SIGINT does not wait: 130, and the servers end by themselves', async () => {
    const folder = await usedFolder()
    const daemon = await serve(folder)
    const socket = await hangingRequest(daemon)
    daemon.signal('SIGINT')
    await until('it is stopping', () => daemon.stderr().includes('stopping'))
    expect((await daemon.stop('SIGINT')).code).toBe(130)
    socket.destroy()
    await nothingRunsIn(folder)
  })

  it('one signal is enough: what hangs is cut at the deadline, and the exit code is still 0', async () => {
    const folder = await usedFolder()
    const daemon = await serve(folder, { env: { NOETL_CP_SHUTDOWN_TIMEOUT: '2' } })
    const socket = await hangingRequest(daemon)
    expect((await daemon.stop('SIGTERM')).code).toBe(0)
    socket.destroy()
    await nothingRunsIn(folder)
  })

  it('during the start undo everything: exit 0, nothing left', async () => {
    const folder = await newDataFolder()
    for (const waitMs of [0, 300, 600, 1_200]) {
      await rm(folder, { recursive: true, force: true })
      const starting = startDaemon(['--data-dir', folder]).catch((error: unknown) => error)
      await until('it has begun', () => existsSync(folder), { everyMs: 2 })
      const begun = performance.now()
      await until('the moment has come', () => performance.now() - begun >= waitMs, { everyMs: 2 })
      for (const pid of processesMentioning(BINARY)) {
        if (processesMentioning(folder).includes(pid)) process.kill(pid, 'SIGTERM')
      }
      const ended = await starting
      const result = ended instanceof EndedEarly ? ended.result : await (ended as Daemon).finished
      expect(result.code, result.stderr).toBe(0)
      await nothingRunsIn(folder)
    }
    const daemon = await serve(folder)
    expect((await daemon.get('/readyz')).status).toBe(200)
    expect((await daemon.stop()).code).toBe(0)
  })
})

describe('an unprotected address', () => {
  it('is refused before anything is started', async () => {
    const folder = await newDataFolder()
    const refused = await runBinary(['serve', '--host', '0.0.0.0', '--port', '0', '--data-dir', folder])
    expect(refused.code).toBe(78)
    expect(refused.stderr).toContain('NOETL_API_TOKEN')
    expect(refused.stderr).toContain('NOETL_ALLOW_OPEN_API')
    expect(existsSync(folder)).toBe(false)
  })
  it('is fine with a token', async () => {
    const folder = await usedFolder()
    const daemon = await serve(folder, { env: { NOETL_HOST: '0.0.0.0', NOETL_API_TOKEN: API_TOKEN } })
    expect(daemon.stdout()).toContain('token needed')
    expect((await daemon.stop()).code).toBe(0)
  })
})

describe('a closed pipe', () => {
  it('ends a command quietly', () => {
    for (const args of ['config show', '--help', 'completion bash']) {
      const script = `${process.execPath} ${BINARY} ${args} | head -1; echo "codes \${PIPESTATUS[*]}"`
      const ran = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
      expect(ran.stderr).toBe('')
      expect(ran.stdout).toMatch(/codes 0 0\n$/)
    }
  })
})

const isRoot = process.getuid?.() === 0

describe.runIf(isRoot)('as an ordinary user', () => {
  const user = { uid: 65534, gid: 65534 }

  /** This tree, or a copy when it lies where others cannot look. */
  async function readableTree(): Promise<{ binary: string; remove(): Promise<void> }> {
    const root = dirname(dirname(BINARY))
    const readable = spawnSync(
      process.execPath,
      ['-e', `require('fs').readFileSync(${JSON.stringify(join(root, 'dist/cli/main.js'))})`],
      { ...user, cwd: '/' },
    )
    if (readable.status === 0) return { binary: BINARY, remove: async () => undefined }
    const copy = await mkdtemp(join(tmpdir(), 'noetl-tree-'))
    await chmod(copy, 0o755)
    for (const name of ['bin', 'dist', 'sql', 'package.json', 'node_modules']) {
      await cp(join(root, name), join(copy, name), { recursive: true, verbatimSymlinks: true })
    }
    return { binary: join(copy, 'bin/noetl-cp.js'), remove: () => rm(copy, { recursive: true }) }
  }

  it('the same works in the home folder, without any setting', async () => {
    const tree = await readableTree()
    const home = dirname(await newDataFolder())
    execFileSync('chown', [`${user.uid}:${user.gid}`, home])
    await mkdir(join(home, 'tmp'), { mode: 0o777 })
    const options = { user, binary: tree.binary, env: { HOME: home, TMPDIR: join(home, 'tmp') } }
    try {
      const daemon = await startDaemon([], options)
      daemons.push(daemon)
      expect(daemon.stdout()).toContain(join(home, '.local/share/noetl-cp'))
      expect((await daemon.get('/readyz')).status).toBe(200)
      const status = await builtCli(['status'], options)
      expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining(daemon.url) })
      expect(await builtCli(['doctor'], options)).toMatchObject({ code: 0 })
      await daemon.stop('SIGKILL')
      const again = await startDaemon([], options)
      daemons.push(again)
      expect((await again.stop('SIGTERM')).code).toBe(0)
      await nothingRunsIn(home)
    } finally {
      await tree.remove()
    }
  })
})
