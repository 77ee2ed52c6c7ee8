// What an operator can do with set-aside envelopes: look, try again, drop.
import type { Databases } from '../../db/databases.js'
import { CpError } from '../../errors.js'
import {
  deleteQuarantine,
  getQuarantine,
  listQuarantine,
  noteFailedAgain,
  type QuarantineRow,
} from '../../stores/projector/quarantineStore.js'
import { type ProjectorDeps, projectEnvelopes } from './projector.js'

export type { QuarantineRow as QuarantinedEnvelope } from '../../stores/projector/quarantineStore.js'

export function pageOfQuarantine(databases: Databases, afterId: string, limit: number): Promise<QuarantineRow[]> {
  return listQuarantine(databases.cluster.db, afterId, limit)
}

export interface Retried {
  id: string
  outcome: 'stored' | 'duplicate' | 'failed'
  reason: string | undefined
}

/** Stored or already there: the entry goes. Failed again: it stays, with the newest reason. */
export async function retryQuarantined(deps: ProjectorDeps, id: string): Promise<Retried> {
  const { db } = deps.databases.cluster
  const row = await getQuarantine(db, id)
  if (row === undefined) throw new CpError('not_found', `there is no quarantined envelope ${id}`)
  const result = await projectEnvelopes(deps, [{ bytes: row.envelope }], row.source)
  if (result.quarantined === 0) {
    await deleteQuarantine(db, [id])
    return { id, outcome: result.projected > 0 ? 'stored' : 'duplicate', reason: undefined }
  }
  const again = await getQuarantine(db, id)
  if (again !== undefined && again.attempts === row.attempts) await noteFailedAgain(db, id, again.reason)
  return { id, outcome: 'failed', reason: again?.reason }
}

export async function dropQuarantined(databases: Databases, ids: readonly string[]): Promise<number> {
  return deleteQuarantine(databases.cluster.db, ids)
}

const PAGE = 200

export async function everyQuarantinedId(databases: Databases): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const page = await pageOfQuarantine(databases, ids[ids.length - 1] ?? '0', PAGE)
    ids.push(...page.map((row) => row.quarantine_id))
    if (page.length < PAGE) return ids
  }
}
