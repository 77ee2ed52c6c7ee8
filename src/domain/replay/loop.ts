// A loop: how many of its parts are done and failed, and whether somebody declared it complete. Once
// complete it stays so, while late parts are still counted.

import { canonicalJson } from '../json/canonical.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { increment, isTruthy, textOrNull } from './coerce.js'
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

export type LoopRow = Loop

export function createLoop(id: string, view: EventView, rules: FoldRules): Loop {
  return {
    loop_id: id,
    step_name: view.nodeName,
    total: rules.total(view.meta['collection_size'], view.meta['total']),
    done: 0,
    failed: 0,
    completed: false,
    last_event_id: null,
  }
}

export function evolveLoop(loop: Loop, view: EventView, rules: FoldRules): void {
  loop.last_event_id = view.id
  if (view.kind.loop === 'done') loop.done = increment(rules.integer('done', loop.done))
  else if (view.kind.loop === 'failed') loop.failed = increment(rules.integer('failed', loop.failed))
  else if (view.kind.loop === 'completed') loop.completed = true
}

/** The comparable row of a loop, from a folded state or from a live table. */
export function loopRow(entity: JsonObject, key: string | null, rules: FoldRules): LoopRow {
  return {
    loop_id: textOrNull(entity['loop_id'] ?? key),
    step_name: entity['step_name'] ?? null,
    total: rules.rowInteger('total', entity['total']),
    done: rules.rowCount('done', entity['done']),
    failed: rules.rowCount('failed', entity['failed']),
    completed: isTruthy(entity['completed']),
    last_event_id: rules.rowInteger('last_event_id', entity['last_event_id']),
  }
}

/** Canonical text; the entity and its row have the same keys. */
export function loopText(loop: Loop): string {
  return (
    `{"completed":${canonicalJson(loop.completed)}` +
    `,"done":${canonicalJson(loop.done)}` +
    `,"failed":${canonicalJson(loop.failed)}` +
    `,"last_event_id":${canonicalJson(loop.last_event_id)}` +
    `,"loop_id":${canonicalJson(loop.loop_id)}` +
    `,"step_name":${canonicalJson(loop.step_name)}` +
    `,"total":${canonicalJson(loop.total)}}`
  )
}
