// The state of an execution with its secrets in their places, for decisions alone. The other state, the one that is shown and
// saved, is folded from events as they may be shown; this one exists only where there are sealed values, only in memory, and
// is built from the whole log.

import type { Db } from '../../../db/db.js'
import type { ExecutionId } from '../../../domain/ids/ids.js'
import { openEvent } from '../../../domain/secrets/eventSecrets.js'
import type { Keyring } from '../../../domain/secrets/keyring.js'
import { applyNumbered, emptyLiveState, type LiveState } from '../../../domain/state/liveState.js'
import { readTail, type TailEvent } from '../../../stores/state/stateStore.js'

/** A key that is not at hand is an error that names it: a wrong value would be worse than none. */
export function applyOpened(live: LiveState, { event, version, sealed }: TailEvent, keyring: Keyring): void {
  applyNumbered(live, sealed === undefined ? event : openEvent(event, sealed, keyring), version)
}

/** Up to the version, or as far as the log goes. */
export async function buildOpened(
  db: Db,
  executionId: string,
  keyring: Keyring,
  { page, upTo = Number.POSITIVE_INFINITY }: { page: number; upTo?: number },
): Promise<LiveState | undefined> {
  const live = emptyLiveState(executionId as ExecutionId)
  while (live.version < upTo) {
    const limit = Math.min(page, upTo - live.version)
    const tail = await readTail(db, executionId, live.version, limit)
    if (tail === undefined) return undefined
    for (const row of tail.events) applyOpened(live, row, keyring)
    if (tail.events.length < limit) break
  }
  return live
}
