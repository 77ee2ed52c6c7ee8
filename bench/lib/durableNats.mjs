// A nats-server of its own that syncs every message to disk before it acknowledges it: what a publish costs when an
// acknowledgement has to survive a power cut.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from 'nats'
import { findNatsServer } from '../../dist/embedded/natsBinary.js'

const READY_MS = 15_000

/** Answers `{ url, stop }`, or `{ reason }` when this server has no such setting (it came with 2.10). */
export async function startDurableNats() {
  const program = await findNatsServer(process.env.NOETL_CP_NATS_SERVER, process.env.PATH)
  const folder = await mkdtemp(join(tmpdir(), 'noetl-cp-bench-nats-'))
  const port = await freePort()
  const config = join(folder, 'nats-server.conf')
  await writeFile(
    config,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(folder)}, sync_interval: always }\n`,
  )
  const remove = () => rm(folder, { recursive: true, force: true })
  const version = (await promisify(execFile)(program, ['--version'])).stdout.trim().replace(/^nats-server: v?/, '')
  try {
    await promisify(execFile)(program, ['-t', '-c', config])
  } catch (error) {
    await remove()
    if (!/unknown field "sync_interval"/.test(`${error.stderr}${error.stdout}`)) throw error
    return { reason: `not measured: nats-server ${version} has no sync_interval (2.10 or newer has)` }
  }
  const child = spawn(program, ['-c', config], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await remove()
  }
  const url = `nats://127.0.0.1:${port}`
  try {
    const nc = await connect({ servers: url, waitOnFirstConnect: true, timeout: READY_MS })
    await nc.close()
  } catch (error) {
    await stop()
    throw error
  }
  return { url, version, stop }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
