// Cancels what began long ago and never ended. Bounded per call; what is left goes with the next one.
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { listStale } from '../../stores/executions/executionStore.js'
import { cancelExecution } from './cancellation.js'
import type { ExecutionsDeps } from './executions.js'

export interface StaleRequest {
  olderThanMinutes: number
  dryRun: boolean
}

export interface StaleReport {
  /** Those that were cancelled, or would be. */
  executionIds: string[]
  /** There may be more. */
  isFull: boolean
}

const STALE_MAX = 1_000
const CANCELS_AT_ONCE = 8

export async function cancelStale(deps: ExecutionsDeps, request: StaleRequest): Promise<StaleReport> {
  const before = wireTimeFromMillis(deps.clock.now() - request.olderThanMinutes * 60_000)
  const { answers, failures } = await deps.databases.fanOut((db) => listStale(db, before, STALE_MAX))
  if (failures[0] !== undefined) throw failures[0].error
  const executionIds = answers.flatMap(({ value }) => value).slice(0, STALE_MAX)
  if (!request.dryRun) {
    for (let start = 0; start < executionIds.length; start += CANCELS_AT_ONCE) {
      await Promise.all(
        executionIds.slice(start, start + CANCELS_AT_ONCE).map((executionId) =>
          cancelExecution(deps, {
            executionId: executionId as ExecutionId,
            reason: `began more than ${request.olderThanMinutes} minutes ago`,
            cascade: false,
            endedIsFine: true,
          }),
        ),
      )
    }
  }
  return { executionIds, isFull: executionIds.length === STALE_MAX }
}
