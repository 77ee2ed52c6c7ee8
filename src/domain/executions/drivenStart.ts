// The mark of an execution that the engine drives: `meta.engine`, the version of its rules. It is in the start, or in the
// event by which one that was started without it was adopted. Only this program writes it; the way in from outside takes
// it away.

import type { EventRecord } from '../events/eventRecord.js'
import { isJsonObject } from '../json/value.js'

/** Keys of meta that say who wrote an event; believed by folds, so never taken from others. */
export const OWN_META_KEYS = ['emitter', 'idempotency_key', 'engine'] as const

/** Written while nothing of the execution had begun. */
export const ADOPTED_EVENT_TYPE = 'execution.adopted'

export function engineOf({ meta }: Pick<EventRecord, 'meta'>): number | undefined {
  const engine = isJsonObject(meta) && meta['emitter'] !== undefined ? meta['engine'] : undefined
  return typeof engine === 'number' ? engine : undefined
}
