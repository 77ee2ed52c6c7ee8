// The instance at one glance: what it depends on, what waits in each shard and who publishes it, workers, subscriptions, schema.
// Asked for by every open console, so it is made at most once a second; a database that is away is named, never waited for by all.
import { messageOf } from '../../errors.js'
import { sharedAnswer } from '../../runtime/sharedAnswer.js'
import type { DeadOf } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { countSubscriptions } from '../../stores/subscriptions/subscriptionStore.js'
import { outboxStatus, type ShardStatus } from '../outbox/admin.js'
import { schemaStates } from '../schema/schema.js'
import { type Driver, listDrivers } from '../state/ownership.js'
import type { ViewDeps } from '../subscriptions/views.js'
import { listWorkerPools, type WorkerPoolView } from '../workers/workerPools.js'
import { deadMessages, type PausedBacklog, pausedBacklogs, type StuckExecution, stuckExecutions } from './attention.js'
import type { CheckResult, HealthMonitor } from './health.js'

export interface InstanceOverview {
  ready: boolean
  checks: CheckResult[]
  shards: ShardStatus[]
  /** Or why there is no answer. */
  drivers: Driver[] | string
  pools: WorkerPoolView[] | string
  subscriptions: Map<string, number> | string
  schema: { database: string; applied: number; pending: number }[] | string
  stuck: StuckExecution[] | string
  deadMessages: DeadOf[] | string
  pausedBacklogs: PausedBacklog[] | string
}

const MADE_EVERY_MS = 1_000
// It has connections of its own to look with, and changes when somebody migrates.
const SCHEMA_EVERY_MS = 60_000
/** What stands still for half a minute is told early enough. */
const STUCK_EVERY_MS = 5_000
/** One question to NATS for each that is paused; nobody waits for the answers. */
const PAUSED_EVERY_MS = 15_000

export function createInstanceOverview(deps: ViewDeps & { health: Pick<HealthMonitor, 'report'> }) {
  const { databases, clock } = deps
  const schema = sharedAnswer(clock, SCHEMA_EVERY_MS, () => schemaStates(databases))
  const stuckNow = sharedAnswer(clock, STUCK_EVERY_MS, () => stuckExecutions(databases))
  const pausedNow = sharedAnswer(clock, PAUSED_EVERY_MS, () => pausedBacklogs(deps))
  let lastPaused: InstanceOverview['pausedBacklogs'] = []
  const lookAtPauses = (): void => {
    pausedNow().then(
      ({ value }) => {
        lastPaused = value
      },
      (error: unknown) => {
        lastPaused = messageOf(error)
      },
    )
  }
  return sharedAnswer(clock, MADE_EVERY_MS, async (): Promise<InstanceOverview> => {
    lookAtPauses()
    const [shards, drivers, pools, subscriptions, states, stuck, dead] = await Promise.all([
      outboxStatus({ databases }),
      listDrivers(databases).catch(messageOf),
      listWorkerPools(databases, {}).catch(messageOf),
      countSubscriptions(databases.cluster.db).catch(messageOf),
      schema().catch(messageOf),
      stuckNow().catch(messageOf),
      deadMessages(databases).catch(messageOf),
    ])
    return {
      ...deps.health.report(),
      shards,
      drivers,
      pools,
      subscriptions,
      stuck: typeof stuck === 'string' ? stuck : stuck.value,
      deadMessages: dead,
      pausedBacklogs: lastPaused,
      schema:
        typeof states === 'string'
          ? states
          : states.value.map(({ label, applied, pending }) => ({
              database: label,
              applied: applied.length,
              pending: pending.length,
            })),
    }
  })
}
