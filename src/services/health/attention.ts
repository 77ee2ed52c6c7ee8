// What somebody should look at beside the numbers: executions that stand still, and messages that were given up. Cheap enough to be
// asked for by every open console; `why-stuck` of an execution has all of its reasons.
import type { Databases } from '../../db/databases.js'
import { listPools, listStuckCommands, type StuckCommand } from '../../stores/state/stateStuckStore.js'
import { countDeadBySubscription, type DeadOf } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { POOL_SILENT_SECONDS_MAX } from '../workers/workerPools.js'

export interface StuckExecution {
  executionId: string
  what: string
}

/** A worker that comes up takes a moment. */
const STUCK_SECONDS = 30
const STUCK_MAX = 20
const DEAD_LOOKED_AT_MAX = 10_000
const DEAD_MAX = 5

/** Some of them, if there are many. A shard that is away has none; that it is away is told elsewhere. */
export async function stuckExecutions(databases: Databases): Promise<StuckExecution[]> {
  const pools = await listPools(databases.cluster.db)
  const alive = pools.flatMap(({ pool, status, age_seconds: age }) =>
    age < POOL_SILENT_SECONDS_MAX && status !== 'offline' ? [pool] : [],
  )
  const wanted = { alive: [...new Set(alive)], seconds: STUCK_SECONDS, limit: STUCK_MAX }
  const { answers } = await databases.fanOut((db) => listStuckCommands(db, wanted))
  const found = new Map<string, StuckExecution>()
  for (const command of answers.flatMap(({ value }) => value)) {
    const executionId = command.execution_id
    if (!found.has(executionId)) found.set(executionId, { executionId, what: reasonOf(command) })
  }
  return [...found.values()].slice(0, STUCK_MAX)
}

function reasonOf({ pool, worker_id: worker }: StuckCommand): string {
  return worker === null ? `no worker of the pool ${pool} is alive` : `its worker ${worker} is not heard of`
}

export function deadMessages({ cluster }: Databases): Promise<DeadOf[]> {
  return countDeadBySubscription(cluster.db, { lookedAtMax: DEAD_LOOKED_AT_MAX, limit: DEAD_MAX })
}
