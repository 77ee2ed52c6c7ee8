// Worker pools from the command line.
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { listWorkerPools, type WorkerPoolView } from '../../../services/workers/workerPools.js'
import type { CommandSpec } from '../../command.js'
import { isSet } from '../../options.js'
import { toned } from '../../output.js'
import { numberOf, type RemoteClient, thereOrHere } from '../../remote.js'

export const workerList: CommandSpec = {
  path: ['worker', 'list'],
  summary: 'Worker pools that announced themselves, and when they last reported',
  options: [{ flags: '--all', help: 'also those that ended or fell silent' }],
  examples: [
    ['worker list', 'pools that are alive'],
    ['worker list --all', 'and those that are not'],
  ],
  run: async (context, input) => {
    const known = await thereOrHere<readonly ShownPool[]>(context, poolsRemotely, async () =>
      listWorkerPools((await context.deps()).databases, { kind: 'worker_pool' }),
    )
    const shown = isSet(input, 'all') ? known : known.filter((pool) => pool.isAlive)
    const hidden = known.length - shown.length
    return {
      json: {
        workers: shown.map((pool) => ({
          runtime_id: pool.runtimeId,
          name: pool.name,
          pool: poolOf(pool),
          status: pool.status,
          alive: pool.isAlive,
          capacity: pool.capacity,
          heartbeat: pool.heartbeat,
          silent_seconds: Math.round(pool.silentSeconds),
        })),
      },
      blocks: [
        {
          kind: 'table',
          columns: ['name', 'pool', 'status', 'slots', 'last report'],
          rows: shown.map((pool) => [
            pool.name,
            poolOf(pool),
            toned(
              pool.isAlive ? pool.status : pool.status === 'offline' ? 'ended' : 'silent',
              pool.isAlive ? 'good' : 'warn',
            ),
            pool.capacity,
            `${Math.round(pool.silentSeconds)} s ago`,
          ]),
          empty: 'no worker is alive',
        },
      ],
      notes: hidden > 0 ? [`${hidden} ended or silent; --all shows them`] : [],
    }
  },
}

type ShownPool = Omit<WorkerPoolView, 'kind' | 'uri' | 'capabilities' | 'runtime' | 'createdAt' | 'updatedAt'>

async function poolsRemotely(remote: RemoteClient): Promise<ShownPool[]> {
  const { items = [] } = await remote.call('getWorkerPools', { query: { kind: 'worker_pool' } })
  return (items as unknown as JsonObject[]).map((pool) => ({
    runtimeId: String(pool['runtime_id']),
    name: String(pool['name']),
    status: String(pool['status']),
    isAlive: pool['alive'] === true,
    capacity: pool['capacity'] as number | null,
    heartbeat: pool['heartbeat'] as ShownPool['heartbeat'],
    silentSeconds: numberOf(pool['silent_seconds']),
    labels: pool['labels'] ?? null,
  }))
}

function poolOf(pool: ShownPool): string | null {
  const name = isJsonObject(pool.labels) ? pool.labels['pool_name'] : undefined
  return typeof name === 'string' ? name : null
}
