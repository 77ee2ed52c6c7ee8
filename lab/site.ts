// Everything that runs: two Postgres servers with a shard each, the broker, the daemons, and a second installation that
// listens to the first.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaemon, type LabDaemon } from './daemons.js'
import type { Journal } from './journal.js'
import { type LabNats, startBroker } from './nats.js'
import { DUPLICATE_WINDOW_SECONDS } from './plan.js'
import { type LabPostgres, startPostgres } from './postgres.js'

export interface Site {
  readonly shards: readonly LabPostgres[]
  readonly nats: LabNats
  readonly daemons: readonly LabDaemon[]
  /** Another installation on the same stream, with a database of its own: its projector stores what we publish. */
  readonly mirror: { daemon: LabDaemon; database: Pick<LabPostgres, 'sql'> }
  /** All of them: faults and readiness make no difference. */
  readonly processes: readonly LabDaemon[]
  /** Where the threads of the daemons write down what is alive in them, in a soak. */
  readonly memoryReports: string
  readonly env: Record<string, string>
  stop(): Promise<void>
}

export interface SiteOptions {
  daemons: number
  cluster: boolean
  smallDisks: boolean
  /** Memory will be judged: the daemons collect their garbage regularly. */
  flat: boolean
  journal: Journal
}

export const STREAM = 'CHAOS_EVENTS'
export const PREFIX = 'chaos.events'
export const SOURCE = 'CHAOS_SOURCE'
export const INTERNAL_TOKEN = 'internal-token-of-the-chaos-lab'

/** Short leases and small snapshots, so that minutes hold what otherwise takes hours. */
const SETTINGS = {
  NOETL_EVENT_NATS_STREAM: STREAM,
  NOETL_EVENT_NATS_SUBJECT_PREFIX: PREFIX,
  // Our writers play the workers.
  NOETL_CP_WORKER: 'false',
  NOETL_EVENT_STREAM_DEDUP_SECS: String(DUPLICATE_WINDOW_SECONDS),
  NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
  NOETL_CP_LOG_LEVEL: 'warn',
  NOETL_CP_OUTBOX_LEASE: '3',
  NOETL_CP_OUTBOX_ACK_TIMEOUT: '2',
  NOETL_CP_STATE_LEASE: '3',
  NOETL_CP_SUBSCRIPTION_LEASE: '3',
  NOETL_CP_ADOPT_INTERVAL: '0.3',
  NOETL_CP_PG_CONNECT_TIMEOUT: '2',
  NOETL_CP_PG_QUERY_TIMEOUT: '8',
  POSTGRES_ACQUIRE_TIMEOUT: '5',
  POSTGRES_MAX_CONNECTIONS: '6',
  NOETL_CP_STATE_THREADS: '2',
  NOETL_CP_WORKER_THREADS: '2',
  NOETL_CP_SNAPSHOT_EVENTS: '5',
  NOETL_CP_SNAPSHOT_AT_END: 'keep',
  NOETL_CP_REPLAY_SNAPSHOT_EVENTS: '10',
  NOETL_CP_STATE_MAX_ENTRIES: '200',
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const undo: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'noetl-chaos-'))
    undo.push(() => rm(folder, { recursive: true, force: true }))
    const memoryReports = join(folder, 'memory')
    await mkdir(memoryReports)
    const started = await Promise.allSettled([
      startPostgres({ smallDisk: false }),
      startPostgres({ smallDisk: options.smallDisks }),
      startBroker({ nodes: options.cluster ? 3 : 1, smallDisk: options.smallDisks }),
    ])
    for (const result of started) if (result.status === 'fulfilled') undo.push(() => result.value.stop())
    for (const result of started) if (result.status === 'rejected') throw result.reason
    const [first, second, nats] = started.map(
      (result) => (result as PromiseFulfilledResult<never>).value,
    ) as unknown as [LabPostgres, LabPostgres, LabNats]
    const shards = [first, second]
    const env = {
      ...SETTINGS,
      NOETL_CP_STREAM_REPLICAS: String(nats.replicas),
      ...(options.flat ? { CHAOS_COLLECT: '20', CHAOS_MEMORY: memoryReports } : {}),
    }
    const daemonOf = (name: string, shardUrls: readonly string[], more: Record<string, string> = {}) =>
      createDaemon({
        name,
        folder,
        shardUrls,
        natsPorts: nats.nodes.map(({ port }) => port),
        env: { ...env, ...more },
        journal: options.journal,
      })
    const daemons = await Promise.all(
      Array.from({ length: options.daemons }, (_, index) =>
        daemonOf(
          String.fromCharCode(97 + index),
          shards.map(({ url }) => url),
        ),
      ),
    )
    const elsewhere = await first.extraDatabase('elsewhere')
    const mirror = await daemonOf('mirror', [elsewhere.url], { NOETL_CP_SUBSCRIPTIONS: 'false' })
    const processes = [...daemons, mirror]
    undo.push(() => Promise.all(processes.map((daemon) => daemon.closeLinks())))
    undo.push(elsewhere.close)
    undo.push(() => Promise.all(processes.map((daemon) => daemon.kill())))
    await Promise.all(processes.map((daemon) => daemon.start()))
    return {
      shards,
      nats,
      daemons,
      mirror: { daemon: mirror, database: elsewhere },
      processes,
      memoryReports,
      env,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
