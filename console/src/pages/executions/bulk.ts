// Acts on many executions, as POST /api/bulk takes them.
import { apiPath, getAnswer, send } from '../../lib/api'
import type { Order } from '../../parts/SameAct'

export type BulkScope = { ids: readonly string[] } | { filter: Readonly<Record<string, string>> }

export const ACTIONS = {
  cancel: {
    name: 'Cancel',
    done: 'cancelled',
    consequence: 'No new command is issued, and what still runs is told to stop. There is no way back.',
  },
  rerun: {
    name: 'Rerun',
    done: 'run again',
    consequence: 'Starts a new execution of each with the same workload. The chosen ones stay as they are.',
  },
  resume: {
    name: 'Resume',
    done: 'resumed',
    consequence: 'Goes on with those that failed or were cancelled where they stopped.',
  },
  finalize: {
    name: 'Finalize',
    done: 'ended',
    consequence: 'Ends those that have not ended, with the status you choose. There is no way back.',
  },
} as const

export type BulkAction = keyof typeof ACTIONS

export interface BulkPlan {
  matched: number
  concerned: number
  more: boolean
  by_status: Record<string, number>
  sample: { execution_id: string; status: string }[]
}

const PATH = '/api/bulk'
/** As many as the server takes at once. */
const LIMIT_MAX = 100_000

export function dryRun(action: BulkAction, scope: BulkScope): Promise<BulkPlan> {
  return send('POST', PATH, { action, ...scope, limit: LIMIT_MAX, dry_run: true, reason: 'dry run' })
}

export interface BulkHow {
  reason: string
  cascade: boolean
  status: string
}

/** Never on more than the dry run has counted. */
export function orderOf(action: BulkAction, scope: BulkScope, plan: BulkPlan, how: BulkHow): Order {
  return {
    path: PATH,
    body: {
      action,
      ...scope,
      limit: plan.matched,
      reason: how.reason,
      ...(action === 'cancel' ? { cascade: how.cascade } : {}),
      ...(action === 'finalize' ? { status: how.status } : {}),
    },
  }
}

const EXPORT_PAGE = 100

/** The ids that are meant, newest first; at most as many as an act takes. */
export async function idsOf(scope: BulkScope): Promise<readonly string[]> {
  if ('ids' in scope) return scope.ids
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const path = apiPath('/api/executions', { ...scope.filter, cursor, limit: EXPORT_PAGE })
    const { body, headers } = await getAnswer<{ execution_id: string }[]>(path)
    ids.push(...body.map((row) => row.execution_id))
    cursor = headers.get('x-noetl-next-cursor') ?? undefined
  } while (cursor !== undefined && ids.length < LIMIT_MAX)
  return ids
}
