// What benchmarks work with: one Postgres and one nats-server for the whole run, a fresh migrated database per
// benchmark, daemons as child processes. Everything is gone when the run ends.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { applyMigrations } from '../../dist/db/migrations.js'
import { parseDatabaseTargets } from '../../dist/domain/shards/databaseTarget.js'
import { startEmbedded } from '../../dist/embedded/startEmbedded.js'

const BINARY = fileURLToPath(new URL('../../bin/noetl-cp.js', import.meta.url))
const READY_MS = 30_000

export function createContext({ full }) {
  const closers = []
  let started
  let serial = 0

  async function start() {
    const folder = await mkdtemp(join(tmpdir(), 'noetl-cp-bench-'))
    await chmod(folder, 0o755)
    const servers = await startEmbedded({
      dataDir: folder,
      postgresPort: undefined,
      natsPort: undefined,
      natsServerPath: process.env.NOETL_CP_NATS_SERVER,
      pathEnv: process.env.PATH,
      version: 'bench',
      log: () => undefined,
    })
    closers.push(async () => {
      await servers.stop(15_000)
      await rm(folder, { recursive: true, force: true })
    })
    return servers
  }

  const servers = () => {
    started ??= start()
    return started
  }

  /** A new database with the schema, and a driver for it. */
  async function database() {
    const { databaseUrl } = await servers()
    const name = `bench_${++serial}`
    const admin = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
    await admin.unsafe(`create database ${name}`)
    await admin.end()
    const url = new URL(databaseUrl)
    url.pathname = `/${name}`
    await applyMigrations({
      target: parseDatabaseTargets(url.toString(), 'bench').targets[0],
      tls: false,
      applicationName: 'bench',
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 60_000,
      prepare: true,
    })
    const open = (options = {}) => {
      const sql = postgres(url.toString(), { onnotice: () => undefined, ...options })
      closers.unshift(() => sql.end({ timeout: 2 }))
      return sql
    }
    return { url: url.toString(), open }
  }

  /** A daemon as a user would start it; settings are environment variables. */
  async function daemon(env, nodeFlags = []) {
    // Flags of our own replace those in its first line.
    const [file, ...flags] = nodeFlags.length === 0 ? [BINARY] : [process.execPath, ...nodeFlags, BINARY]
    const child = spawn(file, [...flags, 'serve', '--port', '0'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NOETL_CP_LOG_LEVEL: 'warn', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const ended = new Promise((resolve) => child.on('close', resolve))
    const url = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the daemon did not start:\n${output}`)), READY_MS)
      const look = (chunk) => {
        output += chunk
        const found = /API +(https?:\/\/\S+)/.exec(output)
        if (found !== null) {
          clearTimeout(timer)
          resolve(found[1])
        }
      }
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      child.on('close', () => reject(new Error(`the daemon ended:\n${output}`)))
    })
    const stop = async () => {
      if (child.exitCode === null) child.kill('SIGTERM')
      await ended
    }
    closers.unshift(stop)
    return { url, pid: child.pid, stop, output: () => output }
  }

  return {
    full,
    servers,
    database,
    daemon,
    close: async () => {
      // Users of the servers first, the servers themselves last.
      for (const close of closers) await close().catch((error) => console.error(String(error)))
    },
  }
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
