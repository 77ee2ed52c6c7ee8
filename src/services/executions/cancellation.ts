// Cancelling executions, alone or with everything below them. A parent is cancelled before its children are looked for,
// so that it starts none afterwards; children that have ended are passed through, because theirs may still run. So a
// call that was interrupted is simply repeated, and goes on where the first one stopped.
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { CpError } from '../../errors.js'
import { listChildren } from '../../stores/executions/executionStore.js'
import { type EndRequest, type ExecutionsDeps, endExecution } from './executions.js'

export interface CancelRequest extends Omit<EndRequest, 'outcome' | 'error'> {
  cascade: boolean
  /** One that has ended is no reason to refuse. */
  endedIsFine?: boolean | undefined
}

export interface Cancelled {
  /** What the execution is now: one that had ended keeps its end. */
  status: string
  /** Those below it that were cancelled by this call. */
  children: string[]
}

const CHILDREN_PAGE = 5_000
const PARENTS_AT_ONCE = 500
const CANCELS_AT_ONCE = 8

/** Refused when there was nothing to cancel, unless that is fine: the execution has ended, and nothing below it runs. */
export async function cancelExecution(deps: ExecutionsDeps, request: CancelRequest): Promise<Cancelled> {
  const { cascade, endedIsFine = false, ...end } = request
  const hadEnded = await cancelOne(deps, end)
  if (hadEnded !== undefined && !cascade && !endedIsFine) throw hadEnded.refusal
  const children = cascade ? await cancelBelow(deps, end) : []
  if (hadEnded !== undefined && children.length === 0 && !endedIsFine) throw hadEnded.refusal
  return { status: hadEnded?.status ?? 'CANCELLED', children }
}

interface HadEnded {
  status: string
  refusal: CpError
}

/** Undefined: it is cancelled now. */
async function cancelOne(deps: ExecutionsDeps, request: Omit<EndRequest, 'outcome'>): Promise<HadEnded | undefined> {
  try {
    await endExecution(deps, { ...request, outcome: 'CANCELLED' })
    return undefined
  } catch (error) {
    const status = error instanceof CpError && error.code === 'refused' ? error.details['status'] : undefined
    if (typeof status === 'string') return { status, refusal: error as CpError }
    throw error
  }
}

async function cancelBelow(deps: ExecutionsDeps, request: Omit<EndRequest, 'outcome'>): Promise<string[]> {
  const cancelled: string[] = []
  // Parents may be named in a circle by whoever writes events; each is looked at once.
  const seen = new Set<string>([request.executionId])
  const parents = [request.executionId as string]
  while (parents.length > 0) {
    for await (const page of childrenOf(deps, parents.splice(0, PARENTS_AT_ONCE))) {
      const fresh = page.filter(({ execution_id: id }) => !seen.has(id))
      for (const { execution_id: id } of fresh) seen.add(id)
      const running = fresh.filter(({ status }) => !isTerminalStatus(status))
      for (let start = 0; start < running.length; start += CANCELS_AT_ONCE) {
        const batch = running.slice(start, start + CANCELS_AT_ONCE).map((row) => row.execution_id)
        const before = await Promise.all(
          batch.map((id) => cancelOne(deps, { ...request, executionId: id as ExecutionId })),
        )
        // One that ended by itself in the meantime is what was asked for.
        cancelled.push(...batch.filter((_, index) => before[index] === undefined))
      }
      for (const { execution_id: id } of fresh) parents.push(id)
    }
  }
  return cancelled
}

interface Child {
  execution_id: string
  status: string
}

/** Page by page over all shards; a shard that does not answer ends the walk, and the call is repeated. */
async function* childrenOf(deps: ExecutionsDeps, parents: readonly string[]): AsyncIterable<Child[]> {
  for (const { db } of deps.databases.shards) {
    for (let after = BEFORE_ALL; ; ) {
      const page = await listChildren(db, parents, after, CHILDREN_PAGE)
      if (page.length > 0) yield page
      if (page.length < CHILDREN_PAGE) break
      after = page[page.length - 1]!.execution_id
    }
  }
}

const BEFORE_ALL = '-9223372036854775808'
