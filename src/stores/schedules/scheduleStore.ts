// Schedules of playbooks, in the cluster database. Moments are milliseconds of the epoch.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { Schedule } from '../../domain/schedules/schedule.js'

const q = queries(
  'schedule_put',
  'schedule_remove',
  'schedule_list',
  'schedule_due',
  'schedule_advance',
  'schedule_pause',
  'schedule_resume',
  'schedule_now',
)

export interface ScheduleRow extends Schedule {
  path: string
  last_ms: number
  next_ms: number | null
  last_execution_id: string | null
  last_error: string | null
  paused_at: string | null
  /** By the clock of the database. */
  now_ms: number
}

export async function putSchedule(
  db: Queryable,
  path: string,
  { cron, timezone, missed, overlap }: Schedule,
  nextMs: number | undefined,
): Promise<void> {
  await db.run(q.schedule_put, [path, cron, timezone, missed, overlap, nextMs ?? null])
}

export async function removeSchedule(db: Queryable, path: string): Promise<void> {
  await db.run(q.schedule_remove, [path])
}

export function listSchedules(db: Queryable, which: { path?: string; limit: number }): Promise<ScheduleRow[]> {
  return db.run<ScheduleRow>(q.schedule_list, [which.path ?? null, which.limit])
}

/** Those whose moment came first. */
export function dueSchedules(db: Queryable, limit: number): Promise<ScheduleRow[]> {
  return db.run<ScheduleRow>(q.schedule_due, [limit])
}

export async function advanceSchedule(
  db: Queryable,
  { path, last_ms: oldMs }: ScheduleRow,
  to: { lastMs: number; nextMs: number | undefined; executionId: string | undefined; error: string | undefined },
): Promise<void> {
  await db.run(q.schedule_advance, [
    path,
    oldMs,
    to.lastMs,
    to.nextMs ?? null,
    to.executionId ?? null,
    to.error ?? null,
  ])
}

/** False: there is none. */
export async function pauseSchedule(db: Queryable, path: string): Promise<boolean> {
  return (await db.run(q.schedule_pause, [path])).length > 0
}

export async function resumeSchedule(db: Queryable, path: string, nextMs: number | undefined): Promise<boolean> {
  return (await db.run(q.schedule_resume, [path, nextMs ?? null])).length > 0
}

export async function databaseNow(db: Queryable): Promise<number> {
  const [row] = await db.run<{ now_ms: number }>(q.schedule_now, [])
  return row!.now_ms
}
