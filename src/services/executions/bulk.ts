// One act on many executions: on those that were named, or on all that match a filter. They are found before the first is touched:
// an act may make executions that match as well.
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { CpError } from '../../errors.js'
import { pulsesOf } from '../../stores/executions/executionPulseStore.js'
import type { JobHandle } from '../console/jobs.js'
import { cancelExecution } from './cancellation.js'
import { pageOfExecutions } from './executionPages.js'
import type { ExecutionSelection } from './executionQueries.js'
import { endExecution } from './executions.js'
import { type RerunDeps, rerunExecution } from './rerun.js'
import { resumeExecution } from './resume.js'

export const BULK_ACTIONS = ['cancel', 'rerun', 'resume', 'finalize'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

export interface BulkRequest {
  action: BulkAction
  /** These, or all that match. */
  wanted: { ids: readonly ExecutionId[] } | { selection: ExecutionSelection }
  limit: number
  reason: string
  actor: string
  /** Of `cancel`: everything below them as well. */
  cascade: boolean
  /** Of `finalize`. */
  outcome: 'COMPLETED' | 'FAILED'
}

export interface Matched {
  executions: { id: ExecutionId; status: string }[]
  /** There are more than the limit. */
  more: boolean
}

const PAGE = 1_000
const SIDE_BY_SIDE = 4

/** Throws `unavailable` when a shard does not answer: nobody acts on half of what was meant. */
export async function matching(
  deps: RerunDeps,
  { wanted, limit }: Pick<BulkRequest, 'wanted' | 'limit'>,
  signal: AbortSignal,
): Promise<Matched> {
  if ('ids' in wanted) return named(deps, wanted.ids, limit)
  const executions: Matched['executions'] = []
  let after: { startTime: string; executionId: string } | null = null
  for (;;) {
    if (signal.aborted) throw new CpError('cancelled', 'stopped while it looked for what matches; nothing was done')
    const room: number = Math.min(PAGE, limit - executions.length)
    const page = await pageOfExecutions(deps, { ...wanted.selection, after, limit: room })
    const [failure] = page.failures
    if (failure !== undefined) {
      throw new CpError(
        'unavailable',
        `shard ${failure.shard} does not answer, nothing was done: ${failure.error.message}`,
      )
    }
    for (const row of page.rows) executions.push({ id: row.execution_id as ExecutionId, status: row.status })
    if (page.next === undefined || executions.length >= limit) return { executions, more: page.next !== undefined }
    after = page.next
  }
}

async function named({ databases }: RerunDeps, ids: readonly ExecutionId[], limit: number): Promise<Matched> {
  const unique = [...new Set(ids)]
  const asked = unique.slice(0, limit)
  const { answers, failures } = await databases.fanOut((db, shard) =>
    pulsesOf(
      db,
      asked.filter((id) => databases.shardOf(id) === shard),
    ),
  )
  if (failures[0] !== undefined) throw failures[0].error
  const statuses = new Map(answers.flatMap(({ value }) => value).map((row) => [row.execution_id, row.status]))
  return {
    executions: asked.map((id) => ({ id, status: statuses.get(id) ?? 'UNKNOWN' })),
    more: unique.length > limit,
  }
}

/** The work of a job. */
export async function actOnAll(deps: RerunDeps, request: BulkRequest, handle: JobHandle): Promise<undefined> {
  const { executions } = await matching(deps, request, handle.signal)
  handle.job.matched = executions.length
  handle.changed()
  const waiting = executions.values()
  const worker = async (): Promise<void> => {
    for (const { id } of waiting) {
      if (handle.signal.aborted) return
      await actOn(deps, request, id).then(
        () => handle.settle(id),
        (error: unknown) => handle.settle(id, error),
      )
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
  return undefined
}

async function actOn(deps: RerunDeps, request: BulkRequest, executionId: ExecutionId): Promise<void> {
  const { reason, actor, outcome, cascade } = request
  if (request.action === 'cancel') await cancelExecution(deps, { executionId, reason, actor, cascade })
  else if (request.action === 'rerun') await rerunExecution(deps, { executionId })
  else if (request.action === 'resume') await resumeExecution(deps, { executionId, latest: false })
  else
    await endExecution(deps, { executionId, outcome, reason, actor, error: outcome === 'FAILED' ? reason : undefined })
}

/** Whether the act can do anything to an execution of that status; a look ahead, not a promise. */
export function concerns(action: BulkAction, status: string): boolean {
  if (action === 'rerun') return true
  if (action === 'resume') return status === 'FAILED' || status === 'CANCELLED'
  return !isTerminalStatus(status)
}
