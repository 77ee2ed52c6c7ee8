// What a status screen shows of an instance: from its daemon and its databases, or from its daemon alone.
import type { Deps } from '../daemon/deps.js'
import { parseJson } from '../domain/json/parse.js'
import { isJsonObject } from '../domain/json/value.js'
import { describeTarget } from '../domain/shards/databaseTarget.js'
import { CpError, isOwnTrouble, messageOf } from '../errors.js'
import { clusterIdOf, overviewOf } from '../services/health/overview.js'
import { schemaStates } from '../services/schema/schema.js'
import { type TroubledRow, troubledSubscriptions } from '../services/subscriptions/views.js'
import { askDaemon, type DaemonAnswer } from './askDaemon.js'
import { type Gauges, parseGauges } from './daemonGauges.js'
import type { Instance } from './instance.js'
import { clientOf, type RemoteClient } from './remote.js'

export interface StatusFacts {
  mode: string
  ready: DaemonAnswer
  gauges: Gauges
  /** By status; undefined when nobody answers. */
  executions: Record<string, number> | undefined
  /** Statuses of so many executions that they were estimated and not counted. */
  estimated: readonly string[]
  shards: { index: number; count: number; databases: string[]; cluster?: string } | null
  troubled: readonly TroubledRow[]
  /** Or why there is no answer. */
  schema: readonly { database: string; applied: number; pending: number }[] | string
}

const TROUBLED_MAX = 5
const LOOKED_AT_MAX = 200

export async function factsFromServers(instance: Instance, { databases }: Deps): Promise<StatusFacts> {
  const [daemon, states, troubled, overview] = await Promise.all([
    askInstance(instance.httpUrl, () => clusterIdOf(databases)),
    schemaStates(databases).catch((error: unknown) => messageOf(error)),
    troubledSubscriptions({ databases }, TROUBLED_MAX).catch(unlessAway),
    overviewOf(databases).catch(unlessAway),
  ])
  const { topology } = databases
  return {
    ...daemon,
    mode: instance.endpoints.mode,
    executions: overview === undefined ? undefined : Object.fromEntries(overview.executions),
    estimated: overview?.estimated ?? [],
    shards: {
      index: topology.shardIndex,
      count: topology.shardCount,
      databases: topology.databases.map(describeTarget),
      cluster: describeTarget(topology.cluster),
    },
    troubled: troubled ?? [],
    schema:
      typeof states === 'string'
        ? states
        : states.map(({ label, applied, pending }) => ({
            database: label,
            applied: applied.length,
            pending: pending.length,
          })),
  }
}

/** A database that is away, or has no schema yet, is told with the schema. */
function unlessAway(error: unknown): undefined {
  if (!isOwnTrouble(error)) throw error
}

/** A daemon of another installation at that address is not the one that was asked for. */
async function askInstance(
  url: string,
  clusterId: () => Promise<string>,
): Promise<{ ready: DaemonAnswer; gauges: Gauges }> {
  const [ready, metrics, health] = await Promise.all(
    ['/readyz', '/metrics', '/api/health'].map((path) => askDaemon(url, path)),
  )
  const answers = clusterOf(health!)
  const own = await clusterId().catch(unlessAway)
  if (answers !== undefined && own !== undefined && answers !== own) {
    const error = 'the daemon that answers there works on another database'
    return { ready: { status: 0, text: '', error }, gauges: parseGauges('') }
  }
  return { ready: ready!, gauges: parseGauges(metrics!.status === 200 ? metrics!.text : '') }
}

/** Undefined of a daemon that is away, or of an older version. */
function clusterOf({ text }: DaemonAnswer): string | undefined {
  try {
    const body = parseJson(text)
    const cluster = isJsonObject(body) ? body['cluster_id'] : undefined
    return typeof cluster === 'string' ? cluster : undefined
  } catch {
    // Something else answers on that port; /readyz tells.
    return undefined
  }
}

export async function factsOverHttp({ httpUrl, token }: Instance): Promise<StatusFacts> {
  const [ready, metrics] = await Promise.all([askDaemon(httpUrl, '/readyz'), askDaemon(httpUrl, '/metrics')])
  const about = { ready, gauges: parseGauges(metrics.status === 200 ? metrics.text : '') }
  try {
    return { ...about, ...(await told(clientOf(httpUrl, token))) }
  } catch (error) {
    if (!(error instanceof CpError)) throw error
    const unknown = { mode: 'unknown', executions: undefined, estimated: [], shards: null, troubled: [] }
    return { ...about, ...unknown, schema: error.message }
  }
}

async function told(remote: RemoteClient): Promise<Omit<StatusFacts, 'ready' | 'gauges'>> {
  const [overview, stats, shard, subscriptions] = await Promise.all([
    remote.call('getOverview', {}),
    remote.call('getDashboardStats', {}),
    remote.call('getRuntimeShardInfo', { query: { execution_id: '0' } }),
    remote.call('getSubscriptions', { query: { verbose: true, order: 'newest', limit: LOOKED_AT_MAX } }),
  ])
  const { shards = [], schema = [], errors = [] } = overview
  const rows = (subscriptions.subscriptions ?? []) as unknown as (TroubledRow & { trouble: string | null })[]
  return {
    mode: overview.mode!,
    executions: Object.fromEntries(
      Object.entries({
        RUNNING: stats.running_executions,
        COMPLETED: stats.completed_executions,
        FAILED: stats.failed_executions,
        CANCELLED: stats.cancelled_executions,
      }).filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0),
    ),
    estimated: (stats.estimated ?? []) as readonly string[],
    shards: {
      index: shard.server_config!.shard_index!,
      count: shard.server_config!.shard_count!,
      databases: shards.map(({ label }) => label!),
    },
    troubled: rows
      .filter((row) => row.trouble !== null)
      .slice(0, TROUBLED_MAX)
      .map(({ path, trouble }) => ({ path, trouble }) as TroubledRow),
    schema: schema.length === 0 && errors.length > 0 ? errors.join('; ') : (schema as StatusFacts['schema']),
  }
}
