// Acts on many executions, as POST /api/bulk takes them.
import { ApiError, apiPath, getAnswer, send } from '../../lib/api'
import type { Order } from '../../parts/SameAct'
import { commandOf } from './searchText'

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
    ...cliOf(action, scope, plan, how),
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

/** As far as a line that is copied may grow. */
const CLI_IDS_MAX = 100

/** Nothing where no command says the same: more ids than a line takes, more executions than a job, a filter it does not have. */
function cliOf(action: BulkAction, scope: BulkScope, plan: BulkPlan, how: BulkHow): Pick<Order, 'cli'> {
  // The command of the list has the same options.
  const which = 'ids' in scope ? scope.ids : commandOf(scope.filter)?.slice(2)
  if (which === undefined || ('ids' in scope && which.length > CLI_IDS_MAX) || plan.more) return {}
  return {
    cli: [
      ...['bulk', action],
      ...(which.length === 0 ? ['--all'] : which),
      ...(action === 'cancel' && how.cascade ? ['--cascade'] : []),
      ...(action === 'finalize' ? ['--as', how.status] : []),
      ...['--reason', how.reason, '--yes', '--expect', String(plan.matched)],
    ],
  }
}

const EXPORT_PAGE = 100

/** The ids that are meant, newest first; at most as many as an act takes, and whether there are more. */
export async function idsOf(scope: BulkScope): Promise<{ ids: readonly string[]; more: boolean }> {
  if ('ids' in scope) return { ids: scope.ids, more: false }
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const path = apiPath('/api/executions', { ...scope.filter, cursor, limit: EXPORT_PAGE })
    const { body, headers } = await getAnswer<{ execution_id: string }[]>(path)
    const away = headers.get('x-noetl-failed-shards')
    if (away !== null) throw new ApiError(`shard ${away} does not answer: its ids would be missing`, 503, path)
    ids.push(...body.map((row) => row.execution_id))
    cursor = headers.get('x-noetl-next-cursor') ?? undefined
  } while (cursor !== undefined && ids.length < LIMIT_MAX)
  return { ids, more: cursor !== undefined }
}
