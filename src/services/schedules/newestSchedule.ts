// The schedule of a path is that of its newest version that can be started. Whoever changes which version that is sets it in
// the same transaction, under the lock of the path.
import type { Tx } from '../../db/db.js'
import { nextTick, type Schedule, scheduleOf } from '../../domain/schedules/schedule.js'
import { isOwnTrouble } from '../../errors.js'
import { type CatalogEntry, getCatalogEntry } from '../../stores/catalog/catalogStore.js'
import { databaseNow, putSchedule, removeSchedule } from '../../stores/schedules/scheduleStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'

export interface NewestScheduleDeps {
  documents: Pick<CatalogDocuments, 'ofEntry'>
}

/** One that stays the same goes on as it was. */
export async function setSchedule(tx: Tx, path: string, schedule: Schedule | undefined): Promise<void> {
  if (schedule === undefined) await removeSchedule(tx, path)
  else await putSchedule(tx, path, schedule, nextTick(schedule, await databaseNow(tx)))
}

/** Versions of the path have gone or come back. */
export async function followNewest(deps: NewestScheduleDeps, tx: Tx, path: string): Promise<void> {
  const newest = await getCatalogEntry(tx, { path })
  await setSchedule(tx, path, newest === undefined ? undefined : await scheduleIn(deps, newest))
}

/** A database that was adopted may hold a document that cannot be read, and could not be started either. */
async function scheduleIn({ documents }: NewestScheduleDeps, entry: CatalogEntry): Promise<Schedule | undefined> {
  if (entry.kind.toLowerCase() !== 'playbook') return undefined
  try {
    return scheduleOf((await documents.ofEntry(entry)).value())
  } catch (error) {
    if (isOwnTrouble(error)) throw error
    return undefined
  }
}
