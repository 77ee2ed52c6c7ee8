// Schedules as people see and steer them.
import type { Databases } from '../../db/databases.js'
import { nextTick } from '../../domain/schedules/schedule.js'
import { CpError } from '../../errors.js'
import { listSchedules, pauseSchedule, resumeSchedule, type ScheduleRow } from '../../stores/schedules/scheduleStore.js'

export type { ScheduleRow } from '../../stores/schedules/scheduleStore.js'

const LIST_MAX = 10_000

export function allSchedules({ databases }: { databases: Databases }): Promise<ScheduleRow[]> {
  return listSchedules(databases.cluster.db, { limit: LIST_MAX })
}

export async function findSchedule({ databases }: { databases: Databases }, path: string): Promise<ScheduleRow> {
  const [row] = await listSchedules(databases.cluster.db, { path, limit: 1 })
  if (row === undefined) {
    throw new CpError(
      'not_found',
      `${path} has no schedule; register a playbook with metadata.schedule, see "noetl-cp schedule list"`,
    )
  }
  return row
}

export async function pause(deps: { databases: Databases }, path: string): Promise<void> {
  await findSchedule(deps, path)
  await pauseSchedule(deps.databases.cluster.db, path)
}

/** What fell into the pause is not made up for. */
export async function resume(deps: { databases: Databases }, path: string): Promise<ScheduleRow> {
  const row = await findSchedule(deps, path)
  await resumeSchedule(deps.databases.cluster.db, path, nextTick(row, row.now_ms))
  return findSchedule(deps, path)
}
