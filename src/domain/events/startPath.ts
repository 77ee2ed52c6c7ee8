// The catalog path that a start event brings along in its context, for the read model. A context from elsewhere
// may hold anything under that name; what no catalog could hold is not a path.
import { isJsonObject } from '../json/value.js'
import type { EventRecord } from './eventRecord.js'
import { isStartEventType } from './eventType.js'

export const PATH_LENGTH_MAX = 512

export function startPathOf(event: Pick<EventRecord, 'eventType' | 'context'>): string | undefined {
  if (!isStartEventType(event.eventType) || !isJsonObject(event.context)) return undefined
  const path = event.context['path']
  return typeof path === 'string' && path !== '' && path.length <= PATH_LENGTH_MAX ? path : undefined
}
