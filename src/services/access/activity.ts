// The record of what people did, to read, and its end: what is older than the retention goes.
import type { Databases } from '../../db/databases.js'
import { wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import type { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  type ActionFilter,
  type ActionRow,
  listActions,
  purgeActions,
} from '../../stores/access/operatorActionStore.js'

export interface ActivityPage {
  actions: ActionRow[]
  /** Undefined: these were the oldest. */
  next: string | undefined
}

export interface ActivityDeps {
  databases: Pick<Databases, 'cluster'>
}

export async function activityOf(
  { databases: { cluster } }: ActivityDeps,
  { limit, ...filter }: ActionFilter,
): Promise<ActivityPage> {
  const rows = await listActions(cluster.db, { ...filter, limit: limit + 1 })
  const actions = rows.slice(0, limit).map((row) => ({
    ...row,
    at: wireTimeFromPostgres(row.at, 'at'),
    finished_at: row.finished_at === null ? null : wireTimeFromPostgres(row.finished_at, 'finished_at'),
  }))
  return { actions, next: rows.length > limit ? actions.at(-1)?.id : undefined }
}

export type { ActionRow }

const PASS_MS = 3_600_000
const ROWS_PER_PASS = 5_000

export function createActivityKeeper(deps: {
  databases: Databases
  clock: Clock
  random: () => number
  retentionDays: number
  onError(error: CpError): void
}): PollLoop {
  return createPollLoop({
    name: 'activity keeper',
    clock: deps.clock,
    random: deps.random,
    idleMs: PASS_MS,
    errorMs: 1_000,
    errorMsMax: PASS_MS,
    onError: deps.onError,
    runOnce: async () =>
      (await purgeActions(deps.databases.cluster.db, deps.retentionDays, ROWS_PER_PASS)) === ROWS_PER_PASS
        ? 'busy'
        : 'idle',
  })
}
