// Writes the rows of one path in one transaction. A NoETL server can register several live ids for a path at the same
// time; the newest then holds the path. The others keep their state, deliver nothing and can only be deactivated.
import type { Db } from '../../db/db.js'
import { compareIds } from '../../domain/ids/ids.js'
import { holdPath, rebuildRow, yieldPath } from '../../stores/subscriptions/subscriptionPathStore.js'
import type { LoggedState } from '../../stores/subscriptions/subscriptionStore.js'

export interface WrittenPath {
  corrected: string[]
  /** Ids that are not deactivated beside a newer one of the same path. */
  superseded: string[]
}

/**
 * `read` tells what the logs say of ids of this path; the rows of all others stay as they are but for who holds it. It is
 * asked while the rows are held: what is written into a log later changes its row later.
 */
export function writePath(db: Db, path: string, read: () => Promise<readonly LoggedState[]>): Promise<WrittenPath> {
  return db.tx(async (tx) => {
    const rows = await holdPath(tx, path)
    const states = new Map<string, string>(rows.map((row) => [row.subscription_id, row.live ? 'live' : row.state]))
    // An intent that is open tells more than the log.
    const changing = new Set(rows.filter((row) => row.is_changing).map((row) => row.subscription_id))
    const logged = (await read()).filter(({ id }) => !changing.has(id))
    for (const { id, state } of logged) states.set(id, state)
    const candidates = [...states.keys()].filter((id) => states.get(id) !== 'DEACTIVATED').sort(compareIds)
    const holder = candidates.at(-1)
    const others = [...states.keys()].filter((id) => id !== holder)
    // Those that give the path up before the one that takes it: a unique key allows one.
    const corrected = new Set(await yieldPath(tx, others))
    const order = [...logged].sort((a, b) => Number(a.id === holder) - Number(b.id === holder))
    for (const state of order) {
      if (await rebuildRow(tx, path, state, state.id === holder)) corrected.add(state.id)
    }
    return { corrected: [...corrected], superseded: candidates.filter((id) => id !== holder) }
  })
}
