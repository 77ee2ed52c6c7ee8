// Promises: one call gives real servers on loopback; data survives every kind of end; two daemons never
// share a folder; nothing outlives the daemon, however it dies; it works as root, behind closed folders
// and as an ordinary user.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import {
  access,
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { connect } from 'nats'
import postgres from 'postgres'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import {
  cleanUp,
  copyCheckout,
  copyNode,
  type Host,
  keptFolder,
  leftOvers,
  newFolder,
  type Running,
  removeKept,
  startHost,
  until,
} from './embeddedHost.js'

const isRoot = process.getuid?.() === 0
/** Slow machines included; a healthy one needs well under two seconds. */
const GONE_WITHIN_MS = 10_000

afterEach(cleanUp)
afterAll(removeKept)

async function withSql<T>(url: string, use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

async function saveData(servers: Running): Promise<void> {
  await withSql(servers.databaseUrl, async (sql) => {
    await sql`create table kept (value text)`
    await sql`insert into kept values ('still here')`
  })
  const nats = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  await (await nats.jetstreamManager()).streams.add({ name: 'KEPT', subjects: ['kept.>'] })
  await nats.jetstream().publish('kept.one', 'still here')
  await nats.close()
}

async function readData(servers: Running): Promise<unknown[]> {
  const rows = await withSql(servers.databaseUrl, (sql) => sql`select value from kept`)
  const nats = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  const info = await (await nats.jetstreamManager()).streams.info('KEPT')
  await nats.close()
  return [rows[0]?.['value'], info.state.messages]
}

const SAVED = ['still here', 1]

async function nothingLeft(folder: string): Promise<void> {
  await until(
    () => (leftOvers(folder).length === 0 ? true : undefined),
    () => `nothing is left: ${leftOvers(folder).join('\n')}`,
    GONE_WITHIN_MS,
  )
}

function nobody(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** TCP ports that a process listens on, by the tables of the kernel. */
function listeningPorts(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]),
  )
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1),
  )
  return rows.flatMap((row) => {
    const [, local, , state, , , , , , inode] = row.trim().split(/\s+/)
    return state === '0A' && sockets.has(inode) ? [Number.parseInt(local!.split(':')[1]!, 16)] : []
  })
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function killPid(pid: number): void {
  process.kill(pid, 'SIGKILL')
}

async function initdbAtWork(dataDir: string): Promise<void> {
  await until(async () => {
    const names = await readdir(join(dataDir, 'postgres')).catch(() => [])
    return names.some((name) => name.startsWith('data.new-')) || undefined
  }, 'initdb is at work')
}

interface Started {
  host: Host
  dataDir: string
  servers: Running
}

async function startIn(dataDir: string): Promise<Started> {
  const host = await startHost({ dataDir })
  return { host, dataDir, servers: await host.running() }
}

const freshHost = async () => startIn(join(await newFolder(0o755), 'data'))

/** Of one that was started before: making the cluster is most of a first start, and nearly all tests are about what follows. */
async function usedHost(): Promise<Started> {
  used ??= makeUsed()
  const dataDir = join(await newFolder(0o755), 'data')
  execFileSync('cp', ['-a', await used, dataDir])
  return startIn(dataDir)
}

let used: Promise<string> | undefined

async function makeUsed(): Promise<string> {
  const { host, dataDir } = await freshHost()
  await host.stop()
  const kept = join(await keptFolder(), 'data')
  await rename(dataDir, kept)
  return kept
}

describe('a running instance', () => {
  it('serves both on loopback with passwords, keeps its files private, and stops without a trace', async () => {
    const { host, dataDir, servers } = await freshHost()
    expect((await readdir(dataDir)).sort()).toEqual(
      ['daemon.lock', 'logs', 'nats', 'ports.json', 'postgres', 'secret.key', 'secrets.json'].sort(),
    )
    for (const file of ['daemon.lock', 'secret.key', 'secrets.json', 'nats/nats-server.conf', 'logs/postgres.log']) {
      expect((await stat(join(dataDir, file))).mode & 0o777, file).toBe(0o600)
    }
    const settings = await withSql(servers.databaseUrl, async (sql) => {
      const rows = await sql`
        select name, setting from pg_settings where name in ('listen_addresses', 'unix_socket_directories',
          'TimeZone', 'fsync', 'synchronous_commit', 'data_checksums', 'server_encoding', 'max_wal_size')`
      return Object.fromEntries(rows.map((row) => [row['name'], row['setting']]))
    })
    expect(settings).toEqual({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      TimeZone: 'UTC',
      fsync: 'on',
      synchronous_commit: 'on',
      data_checksums: 'on',
      server_encoding: 'UTF8',
      max_wal_size: '2048',
    })
    const wrong = servers.databaseUrl.replace(/:[^:@]+@/, ':wrong@')
    await expect(withSql(wrong, (sql) => sql`select 1`)).rejects.toThrow(/password authentication failed/)
    await expect(connect({ servers: servers.natsUrl, token: 'wrong' })).rejects.toThrow(/authorization/i)
    const config = await readFile(servers.natsConfigFile, 'utf8')
    expect(config).toContain(`store_dir: ${JSON.stringify(join(dataDir, 'nats'))}`)
    expect(config).not.toMatch(/\bhttps?(_port)?\s*:/)
    expect(listeningPorts(servers.pids.nats)).toEqual([Number(new URL(servers.natsUrl).port)])

    await host.stop()
    await nothingLeft(dataDir)
    expect(await readdir(dataDir)).not.toContain('daemon.lock')
  })

  it('keeps data, secrets and ports over a restart', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    await host.stop()
    const again = await (await startHost({ dataDir })).running()
    expect(again.databaseUrl).toBe(servers.databaseUrl)
    expect(again.natsUrl).toBe(servers.natsUrl)
    expect(again.internalToken).toBe(servers.internalToken)
    expect(await readData(again)).toEqual(SAVED)
  })

  it('refuses a second daemon and names the first', async () => {
    const { host, dataDir } = await usedHost()
    const second = await startHost({ dataDir })
    const failed = await second.event('failed')
    expect(failed.code).toBe('refused')
    expect(failed.message).toContain(dataDir)
    expect(failed.message).toContain(String(host.pid))
  })

  it('starts a killed child again on the same port, with its data', async () => {
    const { dataDir, servers } = await usedHost()
    await saveData(servers)
    killPid(servers.pids.postgres)
    killPid(servers.pids.nats)
    await until(async () => readData(servers).catch(() => undefined), 'both answer again')
    expect(await readData(servers)).toEqual(SAVED)
    expect(leftOvers(dataDir).join('\n')).not.toMatch(new RegExp(`^\\s*${servers.pids.postgres} `, 'm'))
  })

  it('starts a child again when its leash was killed, never two at a time', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    const leash = execFileSync('ps', ['-o', 'ppid=', '-p', String(servers.pids.postgres)], { encoding: 'utf8' }).trim()
    expect(Number(leash)).not.toBe(host.pid)
    killPid(Number(leash))
    await until(() => host.events.find((one) => one.message === 'Postgres runs again'), 'Postgres runs again')
    expect(await readData(servers)).toEqual(SAVED)
    await host.stop()
    await nothingLeft(dataDir)
  })

  it('stops children that were frozen', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    for (const pid of Object.values(servers.pids)) process.kill(pid, 'SIGSTOP')
    await host.stop()
    await nothingLeft(dataDir)
    expect(await readData(await (await startHost({ dataDir })).running())).toEqual(SAVED)
  })

  it('moves to a free port when the remembered one is taken, and refuses a configured one that is', async () => {
    const first = await usedHost()
    const postgresPort = Number(new URL(first.servers.databaseUrl).port)
    const dataDir = join(await newFolder(0o755), 'data')
    await mkdir(dataDir, { recursive: true })
    await writeFile(join(dataDir, 'ports.json'), JSON.stringify({ postgres: postgresPort }))
    const second = await startHost({ dataDir })
    expect(new URL((await second.running()).databaseUrl).port).not.toBe(String(postgresPort))
    await second.stop()

    const third = await startHost({ dataDir, embedded: { postgresPort } })
    const failed = await third.event('failed')
    expect(failed).toMatchObject({ code: 'unavailable', message: expect.stringContaining(String(postgresPort)) })
    await nothingLeft(dataDir)
  })
})

describe('the death of the daemon', () => {
  it('by kill -9 leaves no process behind and loses nothing', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    await host.kill()
    await nothingLeft(dataDir)
    const log = await readFile(join(dataDir, 'logs', 'postgres.log'), 'utf8')
    expect(log.trimEnd().split('\n').at(-1)).toContain('database system is shut down')
    const again = await startHost({ dataDir })
    expect(await readData(await again.running())).toEqual(SAVED)
  })

  it('by kill -9 followed by a start at once is not a problem either', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    await host.kill()
    const again = await (await startHost({ dataDir })).running()
    expect(again.databaseUrl).toBe(servers.databaseUrl)
    expect(await readData(again)).toEqual(SAVED)
  })

  it('together with all leashes leaves orphans that the next start stops gently', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    const leashes = leftOvers(dataDir).filter((line) => line.includes('leash'))
    expect(leashes).toHaveLength(4)
    for (const line of leashes) killPid(Number.parseInt(line, 10))
    // The supervisor of a living host would act first; both must vanish at the same moment.
    await host.kill()
    const again = await startHost({ dataDir })
    expect(await readData(await again.running())).toEqual(SAVED)
    await again.stop()
    await nothingLeft(dataDir)
  })

  it('in the middle of the first start leaves a folder that starts', async () => {
    const dataDir = join(await newFolder(0o755), 'data')
    const host = await startHost({ dataDir })
    await initdbAtWork(dataDir)
    await host.kill()
    const again = await startHost({ dataDir })
    await saveData(await again.running())
    expect((await readdir(join(dataDir, 'postgres'))).filter((name) => name !== 'data')).toEqual([])
    await again.stop()
    await nothingLeft(dataDir)
  })
})

describe('trouble', () => {
  it('with patience: a start that is called off leaves nothing and can be repeated', async () => {
    const dataDir = join(await newFolder(0o755), 'data')
    const host = await startHost({ dataDir })
    await initdbAtWork(dataDir)
    process.kill(host.pid, 'SIGHUP')
    expect((await host.event('failed')).code).toBe('cancelled')
    await nothingLeft(dataDir)
    expect(await readdir(dataDir)).not.toContain('daemon.lock')
    await (await startHost({ dataDir })).running()
  })

  it('with nats-server undoes the start of Postgres and quotes the reason', async () => {
    const folder = await newFolder(0o755)
    const broken = join(folder, 'nats-server')
    await writeFile(broken, '#!/bin/sh\necho "cannot do this" >&2\nexit 3\n')
    await chmod(broken, 0o755)
    const dataDir = join(folder, 'data')
    const host = await startHost({ dataDir, embedded: { natsServerPath: broken } })
    const failed = await host.event('failed')
    expect(failed.code).toBe('unavailable')
    expect(failed.message).toMatch(/exit code 3[\s\S]*cannot do this/)
    await nothingLeft(dataDir)
    const again = await startHost({ dataDir })
    await again.running()
  })

  it('with lost secrets gives the existing database a new password', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    await host.stop()
    await rm(join(dataDir, 'secrets.json'))
    const again = await (await startHost({ dataDir })).running()
    expect(again.databaseUrl).not.toBe(servers.databaseUrl)
    expect(await readData(again)).toEqual(SAVED)
    expect(await readFile(join(dataDir, 'logs', 'postgres.log'), 'utf8')).not.toContain(
      new URL(again.databaseUrl).password,
    )
  })

  it('with a cluster of another Postgres version is reported before anything is touched', async () => {
    const { host, dataDir, servers } = await usedHost()
    await host.stop()
    await writeFile(join(servers.locations.postgres, 'PG_VERSION'), '17\n')
    const failed = await (await startHost({ dataDir })).event('failed')
    expect(failed).toMatchObject({
      code: 'schema_mismatch',
      message: expect.stringMatching(/Postgres 17.*Postgres 18/),
    })
  })
})

describe.runIf(isRoot)('as root', () => {
  it('works with the code and the data behind folders that other users cannot enter', async () => {
    const closed = await newFolder(0o700)
    const sharedRoot = join(await newFolder(0o755), 'shared')
    const checkout = await copyCheckout(closed)
    const dataDir = join(closed, 'data')
    const host = await startHost({ checkout, dataDir, embedded: { sharedRoot } })
    const servers = await host.running()
    expect(servers.locations.postgres.startsWith(sharedRoot)).toBe(true)
    const pointer = JSON.parse(await readFile(join(dataDir, 'location.json'), 'utf8')) as { postgres: string }
    expect(join(pointer.postgres, 'data')).toBe(servers.locations.postgres)
    expect((await stat(servers.locations.postgres)).uid).not.toBe(0)
    expect(servers.locations.nats.startsWith(sharedRoot)).toBe(true)
    await saveData(servers)
    await host.kill()
    await nothingLeft(sharedRoot)
    const again = await startHost({ checkout, dataDir, embedded: { sharedRoot } })
    const after = await again.running()
    expect(after.locations).toEqual(servers.locations)
    expect(await readData(after)).toEqual(SAVED)

    // A copied data folder carries the pointer; it must not get at the cluster beside its owner.
    const copied = join(closed, 'copied')
    await mkdir(copied)
    await copyFile(join(dataDir, 'location.json'), join(copied, 'location.json'))
    const intruder = await startHost({ checkout, dataDir: copied, embedded: { sharedRoot } })
    expect(await intruder.event('failed')).toMatchObject({
      code: 'refused',
      message: expect.stringContaining(String(again.pid)),
    })
    await again.stop()

    await rm(dirname(servers.locations.postgres), { recursive: true })
    const lost = await startHost({ checkout, dataDir, embedded: { sharedRoot } })
    expect(await lost.event('failed')).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('which is gone'),
    })
  })

  it('an ordinary user needs nothing but its own data folder, with a read-only checkout', async () => {
    const user = nobody()
    const code = await newFolder(0o755)
    const checkout = await copyCheckout(code)
    const node = await copyNode(code)
    const home = await newFolder(0o777)
    const dataDir = join(home, 'data')
    const host = await startHost({ checkout, node, dataDir, user })
    const servers = await host.running()
    expect(servers.locations.postgres).toBe(join(dataDir, 'postgres', 'data'))
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    expect((await stat(dataDir)).uid).toBe(user.uid)
    await saveData(servers)
    await host.kill()
    await nothingLeft(dataDir)
    const again = await startHost({ checkout, node, dataDir, user })
    expect(await readData(await again.running())).toEqual(SAVED)
    await again.stop()
    await nothingLeft(dataDir)

    // Root would leave files in it that its owner cannot change.
    const failed = await (await startHost({ dataDir })).event('failed')
    expect(failed).toMatchObject({ code: 'refused', message: expect.stringContaining(`uid ${user.uid}`) })
  })
})

describe.runIf(isRoot)('root', () => {
  const failure = async (dataDir: string) => (await startHost({ dataDir })).event('failed')
  const ownerOf = async (path: string) => (await lstat(path)).uid

  it('runs both servers as another user, who owns their data and nothing around it', async () => {
    const { dataDir, servers } = await freshHost()
    const uid = await ownerOf(servers.locations.postgres)
    expect(uid).not.toBe(0)
    expect(await ownerOf(join(servers.locations.nats, 'jetstream'))).toBe(uid)
    for (const pid of Object.values(servers.pids)) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'))
      expect(status).toMatch(/^Groups:\s*$/m)
    }
    for (const name of ['.', 'postgres', 'nats', 'logs', 'secrets.json', 'secret.key', 'daemon.lock']) {
      expect(await ownerOf(join(dataDir, name)), name).toBe(0)
      expect((await lstat(join(dataDir, name))).mode & 0o022, name).toBe(0)
    }
    await saveData(servers)
    expect(await readData(servers)).toEqual(SAVED)
  })

  it('takes folders back that an older version gave away, and keeps their data', async () => {
    const { host, dataDir, servers } = await usedHost()
    await saveData(servers)
    await host.stop()
    const { uid, gid } = await lstat(servers.locations.postgres)
    await chown(join(dataDir, 'postgres'), uid, gid)
    execFileSync('chown', ['-R', '0:0', join(dataDir, 'nats')])
    await chmod(join(dataDir, 'nats'), 0o700)
    const again = await (await startHost({ dataDir })).running()
    expect(await readData(again)).toEqual(SAVED)
    expect(await ownerOf(join(dataDir, 'postgres'))).toBe(0)
  })

  it('does not follow a pointer of the user that runs the servers', async () => {
    const { host, dataDir, servers } = await usedHost()
    await host.stop()
    const victim = await newFolder(0o755)
    const { uid, gid } = await lstat(servers.locations.postgres)
    await chown(join(dataDir, 'postgres'), uid, gid)
    const planted = join(dataDir, 'postgres', 'location.json')
    await writeFile(planted, JSON.stringify({ postgres: victim }))
    for (const owner of [uid, 0]) {
      await chown(planted, owner, owner)
      expect(await failure(dataDir)).toMatchObject({ code: 'refused', message: expect.stringContaining(planted) })
    }
    expect(await ownerOf(victim)).toBe(0)
  })

  it('refuses a data folder that others own or may write, or that a link leads to', async () => {
    const { uid, gid } = nobody()
    const folder = await newFolder(0o755)
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await chown(dataDir, uid, gid)
    expect(await failure(dataDir)).toMatchObject({ code: 'refused', message: expect.stringContaining(`uid ${uid}`) })
    await chown(dataDir, 0, 0)
    for (const mode of [0o777, 0o775, 0o1777]) {
      await chmod(dataDir, mode)
      await chown(dataDir, 0, gid)
      expect(await failure(dataDir)).toMatchObject({ code: 'refused', message: expect.stringContaining('chmod go-w') })
    }
    await chmod(dataDir, 0o700)
    await symlink(dataDir, join(folder, 'link'))
    expect(await failure(join(folder, 'link'))).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('link'),
    })
    await chown(folder, uid, gid)
    expect(await failure(dataDir)).toMatchObject({ code: 'refused', message: expect.stringContaining(folder) })
  })

  it.each(['postgres', 'nats', 'logs', 'secrets.json', 'daemon.lock', 'location.json', 'postgres/data'])(
    'does not follow a link at %s',
    async (name) => {
      const dataDir = join(await newFolder(0o755), 'data')
      const elsewhere = await newFolder(0o755)
      const target = name.includes('.') ? join(elsewhere, 'file') : elsewhere
      if (name.includes('.')) await writeFile(target, '{}')
      await mkdir(dirname(join(dataDir, name)), { recursive: true })
      await symlink(target, join(dataDir, name))
      expect(await failure(dataDir)).toMatchObject({ code: 'refused', message: expect.stringContaining('link') })
      expect(await readdir(elsewhere)).toEqual(name.includes('.') ? ['file'] : [])
      expect(await ownerOf(elsewhere)).toBe(0)
    },
  )

  it.each(['nats', 'data'])(
    'does not follow a link at %s in a folder that an older version gave away',
    async (name) => {
      const sharedRoot = join(await newFolder(0o755), 'shared')
      const dataDir = join(await newFolder(0o700), 'data')
      const host = await startHost({ dataDir, embedded: { sharedRoot } })
      const { locations } = await host.running()
      await host.stop()
      const { uid, gid } = await lstat(locations.postgres)
      const given = dirname(locations.postgres)
      const victim = await newFolder(0o755)
      await chown(given, uid, gid)
      await rm(join(given, name), { recursive: true })
      await symlink(victim, join(given, name))
      const failed = await (await startHost({ dataDir, embedded: { sharedRoot } })).event('failed')
      expect(failed).toMatchObject({ code: 'refused', message: expect.stringContaining(join(given, name)) })
      expect(await readdir(victim)).toEqual([])
      expect(await ownerOf(victim)).toBe(0)
    },
  )

  it('makes nothing in a folder that others may write', async () => {
    const open = await newFolder(0o777)
    expect(await failure(join(open, 'new', 'data'))).toMatchObject({
      code: 'refused',
      message: expect.stringContaining(`chmod go-w ${open}`),
    })
    expect(await readdir(open)).toEqual([])
  })

  it('is not stopped by a pipe, nor tells what is behind a link, in what it gave away', async () => {
    const { host, dataDir, servers } = await usedHost()
    await host.stop()
    const version = join(servers.locations.postgres, 'PG_VERSION')
    await rm(version)
    execFileSync('mkfifo', [version])
    expect((await failure(dataDir)).message).toContain(version)
    await rm(version)
    const secret = join(await newFolder(0o700), 'secret')
    await writeFile(secret, 'only for root')
    await symlink(secret, version)
    const told = await failure(dataDir)
    expect(told.message).toContain('link')
    expect(told.message).not.toContain('only for root')
  })
})

describe.runIf(!isRoot)('as an ordinary user', () => {
  it('keeps everything in the data folder', async () => {
    const { dataDir, servers } = await freshHost()
    expect(servers.locations.postgres).toBe(join(dataDir, 'postgres', 'data'))
    await access(join(dataDir, 'nats', 'jetstream'))
  })
})
