// A loop: how many of its parts are done and failed, and whether somebody declared it complete. Once
// complete it stays so, while late parts are still counted.

import type { JsonObject, JsonValue } from '../json/value.js'
import { increment, isTruthy, textOrNull } from './coerce.js'
import type { FieldKinds } from './entityFields.js'
import type { EventView } from './eventView.js'
import type { FoldRules } from './foldRules.js'

export type Loop = {
  loop_id: JsonValue
  step_name: JsonValue
  total: JsonValue
  done: JsonValue
  failed: JsonValue
  completed: JsonValue
  last_event_id: JsonValue
}

export const LOOP_FIELDS: FieldKinds<Loop> = {
  completed: 'any',
  done: 'any',
  failed: 'any',
  last_event_id: 'any',
  loop_id: 'any',
  step_name: 'any',
  total: 'any',
}

export function createLoop(id: string, view: EventView, rules: FoldRules): Loop {
  // Keys in canonical order, which spares sorting them for every checksum.
  return {
    completed: false,
    done: 0,
    failed: 0,
    last_event_id: null,
    loop_id: id,
    step_name: view.nodeName,
    total: rules.total(view.meta['collection_size'], view.meta['total']),
  }
}

export function evolveLoop(loop: Loop, view: EventView, rules: FoldRules): void {
  loop.last_event_id = view.id
  if (view.kind.loop === 'done') loop.done = increment(rules.integer('done', loop.done))
  else if (view.kind.loop === 'failed') loop.failed = increment(rules.integer('failed', loop.failed))
  else if (view.kind.loop === 'completed') loop.completed = true
}

/** The comparable row of a loop, from a folded state or from a live table. */
export function loopRow(entity: JsonObject, key: string | null, rules: FoldRules): Loop {
  return {
    completed: isTruthy(entity['completed']),
    done: rules.rowCount('done', entity['done']),
    failed: rules.rowCount('failed', entity['failed']),
    last_event_id: rules.rowInteger('last_event_id', entity['last_event_id']),
    loop_id: textOrNull(entity['loop_id'] ?? key),
    step_name: entity['step_name'] ?? null,
    total: rules.rowInteger('total', entity['total']),
  }
}
