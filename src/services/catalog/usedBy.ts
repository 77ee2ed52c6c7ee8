// What would start an entry of the catalog: playbooks whose steps call it or that hand their failures to it, subscriptions, its own
// schedule. Documents are read one at a time, for a bounded number and time; what was not looked at is told.
import type { Databases } from '../../db/databases.js'
import { type Reference, referencesTo } from '../../domain/catalog/references.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { playbookOf, readFailureHook } from '../../domain/failures/failureHook.js'
import { CpError, isOwnTrouble } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { idsOfPath, listMentioning, type Mentioning } from '../../stores/catalog/catalogStore.js'
import { listSchedules, type ScheduleRow } from '../../stores/schedules/scheduleStore.js'
import type { CatalogDocuments } from './catalogDocuments.js'

/** Documents that mention the path and are read. */
export const USERS_MAX = 200
const LOOK_MS = 10_000

export interface UsedByDeps {
  databases: Databases
  documents: Pick<CatalogDocuments, 'of'>
  clock: Clock
  /** The setting NOETL_CP_ON_FAILURE. */
  onFailure: string | undefined
}

export interface User extends Mentioning {
  places: Reference[]
}

/** As the API has it. */
export interface UsedBy {
  path: string
  users: User[]
  schedule: OwnSchedule | null
  /** It is started for every failed execution whose playbook says nothing else. */
  on_failure_of_all: boolean
  /** False: not every document that mentions it was read. */
  is_complete: boolean
}

interface OwnSchedule {
  cron: string
  timezone: string
  next_at: string | null
  paused: boolean
}

export async function usedBy(deps: UsedByDeps, path: string): Promise<UsedBy> {
  const { databases, documents, clock } = deps
  const { db } = databases.cluster
  const [mentioning, ids, [schedule]] = await Promise.all([
    listMentioning(db, path, USERS_MAX + 1),
    idsOfPath(db, path),
    listSchedules(db, { path, limit: 1 }),
  ])
  const entry = { path, catalogIds: new Set(ids) }
  const untilMs = clock.monotonic() + LOOK_MS
  const users: User[] = []
  let looked = 0
  for (const found of mentioning.slice(0, USERS_MAX)) {
    if (clock.monotonic() > untilMs) break
    looked++
    const document = await documents.of(found.catalog_id).catch((error: unknown) => {
      // A document that cannot be read starts nothing.
      if (isOwnTrouble(error)) throw error
      return undefined
    })
    const places = document === undefined ? [] : referencesTo(entry, found.kind, document.value())
    if (places.length > 0) users.push({ ...found, places })
  }
  if (ids.length === 0 && users.length === 0) {
    throw new CpError('not_found', `catalog path ${path} does not exist; see "noetl-cp catalog list"`)
  }
  const fallback = deps.onFailure === undefined ? undefined : readFailureHook(deps.onFailure, 'NOETL_CP_ON_FAILURE')
  return {
    path,
    users,
    schedule: schedule === undefined ? null : ownSchedule(schedule),
    on_failure_of_all: playbookOf(fallback) === path,
    is_complete: looked === mentioning.length,
  }
}

function ownSchedule({ cron, timezone, next_ms: next, paused_at: pausedAt }: ScheduleRow): OwnSchedule {
  const isPaused = pausedAt !== null
  return { cron, timezone, next_at: next === null || isPaused ? null : wireTimeFromMillis(next), paused: isPaused }
}
