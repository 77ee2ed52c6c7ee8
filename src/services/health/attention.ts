// What somebody should look at beside the numbers: executions that stand still, messages that were given up, and messages that wait
// behind a pause. Cheap enough to be asked for by every open console; `why-stuck` of an execution has all of its reasons.
import type { Databases } from '../../db/databases.js'
import { ENGINE_VERSION } from '../../domain/engine/settings.js'
import { spellingsOf } from '../../domain/events/vocabulary.js'
import { listLimits } from '../../stores/commands/commandLimits.js'
import {
  listPools,
  listStandingExecutions,
  listStuckCommands,
  listWaitingParents,
  type StandingExecution,
  type StuckCommand,
} from '../../stores/state/stateStuckStore.js'
import { countDeadBySubscription, type DeadOf } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { listSubscriptions } from '../../stores/subscriptions/subscriptionStore.js'
import { span } from '../state/stuckFinding.js'
import { backlogOrTrouble, type ViewDeps } from '../subscriptions/views.js'
import { POOL_SILENT_SECONDS_MAX } from '../workers/workerPools.js'

export interface StuckExecution {
  executionId: string
  what: string
}

/** A worker that comes up, or an orchestrator that decides, takes a moment. */
const STUCK_SECONDS = 30
/** So long may something be under way outside, of which no command tells. */
const QUIET_SECONDS = 3_600
const STUCK_MAX = 20
const OPEN_LOOKED_AT_MAX = 1_000
const DEAD_LOOKED_AT_MAX = 10_000
const DEAD_MAX = 5
const PAUSED_MAX = 20
const FAILURES = spellingsOf(({ step }) => step === 'failed')

/** Some of them, if there are many. A shard that is away has none; that it is away is told elsewhere. */
export async function stuckExecutions(databases: Databases): Promise<StuckExecution[]> {
  const found = new Map<string, StuckExecution>()
  for (const stuck of [...(await stuckByCommands(databases)), ...(await standingStill(databases))]) {
    if (!found.has(stuck.executionId)) found.set(stuck.executionId, stuck)
  }
  return [...found.values()].slice(0, STUCK_MAX)
}

async function stuckByCommands(databases: Databases): Promise<StuckExecution[]> {
  const { db } = databases.cluster
  const [pools, limits] = await Promise.all([listPools(db), listLimits(db)])
  const paused = limits.flatMap(({ scope, name, paused_at: at }) => (scope === 'pool' && at !== null ? [name] : []))
  const alive = pools.flatMap(({ pool, status, age_seconds: age }) =>
    age < POOL_SILENT_SECONDS_MAX && status !== 'offline' && !paused.includes(pool) ? [pool] : [],
  )
  const wanted = { alive: [...new Set(alive)], seconds: STUCK_SECONDS, limit: STUCK_MAX }
  const { answers } = await databases.fanOut((shard) => listStuckCommands(shard, wanted))
  return answers
    .flatMap(({ value }) => value)
    .map((command) => ({ executionId: command.execution_id, what: reasonOf(command, paused) }))
}

function reasonOf({ pool, worker_id: worker }: StuckCommand, paused: readonly string[]): string {
  if (worker !== null) return `its worker ${worker} is not heard of`
  return pool !== null && paused.includes(pool)
    ? `the pool ${pool} is paused`
    : `no worker of the pool ${pool} is alive`
}

async function standingStill(databases: Databases): Promise<StuckExecution[]> {
  const filter = {
    engine: ENGINE_VERSION,
    failedTypes: FAILURES,
    failedSeconds: STUCK_SECONDS,
    quietSeconds: QUIET_SECONDS,
    lookedAtMax: OPEN_LOOKED_AT_MAX,
    limit: STUCK_MAX,
  }
  const { answers } = await databases.fanOut((shard) => listStandingExecutions(shard, filter))
  const standing = answers.flatMap(({ value }) => value)
  if (standing.length === 0) return []
  // What they have started may be on any shard.
  const ids = standing.map(({ execution_id: id }) => id)
  const parents = await databases.fanOut((shard) => listWaitingParents(shard, ids))
  const isWaiting = new Set(parents.answers.flatMap(({ value }) => value))
  return standing
    .filter(({ execution_id: id }) => !isWaiting.has(id))
    .map((row) => ({ executionId: row.execution_id, what: standstillOf(row) }))
}

function standstillOf({ engine, quiet_seconds: seconds, has_failed: hasFailed }: StandingExecution): string {
  if (engine !== null && engine !== ENGINE_VERSION)
    return `no daemon has version ${engine} of the engine, which it needs`
  if (engine === null && hasFailed === true) return 'a step failed, and nobody has ended it'
  return `nothing has happened for ${span(seconds)}`
}

export function deadMessages({ cluster }: Databases): Promise<DeadOf[]> {
  return countDeadBySubscription(cluster.db, { lookedAtMax: DEAD_LOOKED_AT_MAX, limit: DEAD_MAX })
}

export interface PausedBacklog {
  subscription_id: string
  path: string
  messages: number
}

/** Of the newest that are paused those behind which something waits; a source that does not answer is told elsewhere. */
export async function pausedBacklogs(deps: ViewDeps): Promise<PausedBacklog[]> {
  if (deps.bus?.isConnected() !== true) return []
  const rows = await listSubscriptions(deps.databases.cluster.db, {
    state: 'PAUSED',
    pathPattern: null,
    mode: 'pull',
    cursor: null,
    limit: PAUSED_MAX,
    order: 'newest',
  })
  const backlogs = await Promise.all(
    rows.map(async (row) => {
      const found = await backlogOrTrouble(deps, row)
      const messages = 'trouble' in found ? 0 : found.pending + found.ackPending
      return { subscription_id: row.subscription_id, path: row.path, messages }
    }),
  )
  return backlogs.filter(({ messages }) => messages > 0)
}
