// Starts playbooks when their moment comes. Every daemon looks; the moment is part of the dedup key of the start, so that a
// moment starts one execution whoever is first, and whoever dies between the start and its note.
import type { Databases } from '../../db/databases.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import { lastTicks, nextTick, ticksToStart } from '../../domain/schedules/schedule.js'
import { type CpError, isOwnTrouble, toCpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { createTurns } from '../../runtime/turns.js'
import { lockPath } from '../../stores/catalog/catalogStore.js'
import { getExecution } from '../../stores/executions/executionStore.js'
import { advanceSchedule, dueSchedules, type ScheduleRow } from '../../stores/schedules/scheduleStore.js'
import { type ExecutionsDeps, startExecution } from '../executions/executions.js'
import { followNewest } from './newestSchedule.js'

export interface SchedulerDeps extends ExecutionsDeps {
  databases: Databases
  random: () => number
  onStarted?: (outcome: 'started' | 'overlap' | 'failed') => void
  onError(error: CpError): void
}

const LOOK_MS = 1_000
const PAGE = 100
const AT_ONCE = 8
/** One that cannot be started now goes behind those that can. */
const TRY_AGAIN_MS = 10_000
/** Of the moments that were missed; older ones are let go. */
const MISSED_MAX = 100
const KNOWN_SECONDS = 30 * 86_400

export function createScheduler(deps: SchedulerDeps): PollLoop {
  return createPollLoop({
    name: 'scheduler',
    clock: deps.clock,
    random: deps.random,
    idleMs: LOOK_MS,
    errorMs: LOOK_MS,
    errorMsMax: 10_000,
    onError: deps.onError,
    runOnce: async () => ((await startDue(deps)) === PAGE ? 'busy' : 'idle'),
  })
}

/** Answers how many schedules were due. */
export async function startDue(deps: SchedulerDeps): Promise<number> {
  const rows = await dueSchedules(deps.databases.cluster.db, PAGE)
  const waiting = [...rows]
  let trouble: CpError | undefined
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift())
      trouble = (await fire(deps, row)) ?? trouble
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, rows.length) }, work))
  if (trouble !== undefined) deps.onError(trouble)
  return rows.length
}

/** Those that nobody was there for; without holding up everything else, however many these are. */
async function passedTicks(row: ScheduleRow): Promise<number[]> {
  const turns = createTurns()
  const walk = lastTicks(row, row.last_ms, row.now_ms, row.missed === 'all' ? MISSED_MAX : 1)
  for (let step = walk.next(); ; step = walk.next()) {
    if (step.done === true) return step.value
    await turns.rest()
  }
}

/** Answers what keeps it from starting now: it is tried again later, and holds up none of the others. */
async function fire(deps: SchedulerDeps, row: ScheduleRow): Promise<CpError | undefined> {
  const { db } = deps.databases.cluster
  const passed = await passedTicks(row)
  let executionId: string | undefined
  let failure: CpError | undefined
  for (const tick of ticksToStart(row, passed, row.now_ms)) {
    try {
      if (row.overlap === 'skip' && (await isUnderWay(deps, executionId ?? row.last_execution_id))) {
        deps.onStarted?.('overlap')
        continue
      }
      executionId = await startTick(deps, row.path, tick)
      deps.onStarted?.('started')
    } catch (error) {
      failure = toCpError(error)
      // Ours to mend, its shard may be away: the moment is tried again, and not lost.
      if (isOwnTrouble(failure)) {
        const nextMs = row.now_ms + TRY_AGAIN_MS
        await advanceSchedule(db, row, { lastMs: row.last_ms, nextMs, executionId, error: failure.message })
        return failure
      }
      deps.onStarted?.('failed')
      deps.onError(failure)
    }
  }
  // Somebody else may have taken the playbook out of the catalog.
  if (failure?.code === 'not_found') {
    await db.tx(async (tx) => {
      await lockPath(tx, row.path)
      await followNewest(deps, tx, row.path)
    })
  }
  const lastMs = passed.at(-1) ?? row.last_ms
  const nextMs = nextTick(row, Math.max(lastMs, row.now_ms))
  await advanceSchedule(db, row, { lastMs, nextMs, executionId, error: failure?.message })
  return undefined
}

async function startTick(deps: SchedulerDeps, path: string, tick: number): Promise<string> {
  const at = wireTimeFromMillis(tick)
  const started = await startExecution(deps, {
    path,
    dedup: { key: `schedule:${path}:${at}`, windowSeconds: KNOWN_SECONDS },
    trace: { scheduled_at: at },
  })
  return started.executionId
}

async function isUnderWay({ databases }: SchedulerDeps, executionId: string | null | undefined): Promise<boolean> {
  if (executionId === null || executionId === undefined) return false
  const row = await getExecution(databases.of(executionId), executionId)
  return row !== undefined && !isTerminalStatus(row.status)
}
