// What people did, in the cluster database.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('operator_action_begin', 'operator_action_end', 'operator_action_list', 'operator_action_purge')

export interface NewAction {
  actor: string
  role: string
  via: 'console' | 'api' | 'cli'
  action: string
  targetKind: string | null
  targetId: string | null
  reason: string | null
  /** JSON without secrets. */
  request: string | null
}

export interface ActionTarget {
  kind: string
  id: string
}

export type ActionOutcome = 'done' | 'refused' | 'failed'

export interface ActionRow {
  id: string
  at: string
  actor: string
  role: string
  via: string
  action: string
  target_kind: string | null
  target_id: string | null
  reason: string | null
  request: string | null
  outcome: 'intent' | ActionOutcome
  error: string | null
  finished_at: string | null
}

export interface ActionFilter {
  actor: string | null
  action: string | null
  target: string | null
  since: string | null
  beforeId: string | null
  limit: number
}

export async function beginAction(db: Queryable, a: NewAction): Promise<string> {
  const values = [a.actor, a.role, a.via, a.action, a.targetKind, a.targetId, a.reason, a.request]
  const [row] = await db.run<{ id: string }>(q.operator_action_begin, values)
  return row!.id
}

export async function endAction(
  db: Queryable,
  id: string,
  outcome: ActionOutcome,
  error: string | null,
  about: ActionTarget | undefined,
): Promise<void> {
  await db.run(q.operator_action_end, [id, outcome, error, about?.kind ?? null, about?.id ?? null])
}

export function listActions(db: Queryable, filter: ActionFilter): Promise<ActionRow[]> {
  const { actor, action, target, since, beforeId, limit } = filter
  return db.run<ActionRow>(q.operator_action_list, [actor, action, target, since, beforeId, limit])
}

export async function purgeActions(db: Queryable, days: number, limit: number): Promise<number> {
  return (await db.run(q.operator_action_purge, [days, limit])).count
}
