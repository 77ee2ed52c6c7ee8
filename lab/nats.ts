// The broker of the lab: one nats-server, or three that form a JetStream cluster on loopback. Each node can be killed,
// frozen and started again on its own files.
import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import { findNatsServer } from '../src/embedded/natsBinary.js'
import { freePort } from '../test/support/freePort.js'
import { answers } from '../test/support/natsServer.js'
import { until } from '../test/support/until.js'
import { mountSmallDisk, type SmallDisk } from './tmpfs.js'

export interface NatsNode {
  readonly port: number
  kill(): Promise<void>
  start(): Promise<void>
  freeze(): void
  thaw(): void
  /** The files as they are at one moment, kept beside them. */
  copyFiles(): Promise<void>
  /** Kills it and starts it on the copy. */
  restoreFiles(): Promise<void>
  readonly disk: SmallDisk | string
}

export interface LabNats {
  readonly nodes: readonly NatsNode[]
  readonly replicas: number
  /** Straight to the servers; reconnects for ever. */
  connect(): Promise<NatsConnection>
  stop(): Promise<void>
}

const DISK_MB = 512
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export async function startBroker(options: { nodes: 1 | 3; smallDisk: boolean }): Promise<LabNats> {
  const program = await findNatsServer(process.env['NOETL_CP_NATS_SERVER'], process.env['PATH'])
  const root = await mkdtemp(join(tmpdir(), 'noetl-chaos-nats-'))
  // A full disk of all nodes at once would be another experiment, so only a single node gets a small one.
  const disk = !options.smallDisk
    ? 'it was not asked for'
    : options.nodes === 1
      ? await mountSmallDisk(root, DISK_MB)
      : 'the nodes of a cluster share the disk of the machine'
  const ports = await freePorts(options.nodes * 2)
  const clients = ports.slice(0, options.nodes)
  const routes = ports.slice(options.nodes)
  const nodes = await Promise.all(
    clients.map(async (port, index) => {
      const config = join(root, `node${index}.conf`)
      await writeFile(config, nodeConfig({ index, port, route: routes[index]!, routes, root }))
      return nodeOf(program, config, { port, disk, files: join(root, `store${index}`) })
    }),
  )
  await Promise.all(nodes.map((node) => node.start()))
  const openLink = (): Promise<NatsConnection> =>
    connect({
      servers: clients.map((port) => `nats://127.0.0.1:${port}`),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      ignoreClusterUpdates: true,
      timeout: 5_000,
    })
  const probe = await openLink()
  await until('JetStream works', async () => (await (await probe.jetstreamManager()).getAccountInfo()) && true, {
    timeoutMs: 60_000,
    everyMs: 200,
  })
  await probe.close()
  return {
    nodes,
    replicas: options.nodes,
    connect: openLink,
    stop: async () => {
      for (const node of nodes) await node.kill()
      if (typeof disk !== 'string') await disk.unmount()
      await rm(root, { recursive: true, force: true })
    },
  }
}

interface NodeConfig {
  index: number
  port: number
  route: number
  routes: readonly number[]
  root: string
}

function nodeConfig({ index, port, route, routes, root }: NodeConfig): string {
  const lines = [
    `server_name: chaos${index}`,
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: ${JSON.stringify(join(root, `store${index}`))} }`,
  ]
  if (routes.length > 1) {
    const others = routes.filter((other) => other !== route).map((other) => `"nats://127.0.0.1:${other}"`)
    // Clients must stay on the proxies they were given.
    lines.push(
      `cluster { name: chaos, listen: "127.0.0.1:${route}", routes: [${others.join(', ')}], no_advertise: true }`,
    )
  }
  return `${lines.join('\n')}\n`
}

function nodeOf(
  program: string,
  config: string,
  { port, disk, files }: Pick<NatsNode, 'port' | 'disk'> & { files: string },
): NatsNode {
  const copy = `${files}.older`
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    const victim = child
    if (victim === undefined || victim.exitCode !== null || victim.signalCode !== null) return
    const gone = new Promise((resolve) => victim.once('exit', resolve))
    victim.kill('SIGKILL')
    await gone
    running.delete(victim)
  }
  const start = async (): Promise<void> => {
    child = spawn(program, ['-c', config], { stdio: 'ignore' })
    running.add(child)
    await until('nats-server answers', () => answers(port), { timeoutMs: 60_000 })
  }
  const freeze = (): void => void child?.kill('SIGSTOP')
  const thaw = (): void => void child?.kill('SIGCONT')
  return {
    port,
    disk,
    kill,
    start,
    freeze,
    thaw,
    copyFiles: async () => {
      await rm(copy, { recursive: true, force: true })
      freeze()
      try {
        await cp(files, copy, { recursive: true })
      } finally {
        thaw()
      }
    },
    restoreFiles: async () => {
      await kill()
      await rm(files, { recursive: true })
      await rename(copy, files)
      await start()
    },
  }
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}
