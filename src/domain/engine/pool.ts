// Which pool of workers the commands of an execution go to.

import { parseJson } from '../json/parse.js'
import type { JsonObject } from '../json/value.js'
import type { WorkflowState } from '../state/workflowState.js'

const POOLS_BY_PREFIX = [
  ['system/', 'system'],
  ['subscription/', 'subscription'],
] as const

export const DEFAULT_POOL = 'shared'

export function poolOf({ startMeta, state }: { startMeta: JsonObject; state: WorkflowState }): string {
  const named = startMeta['execution_pool']
  if (typeof named === 'string' && named !== '') return named
  const path = state.path === undefined ? undefined : parseJson(state.path.value)
  const known = POOLS_BY_PREFIX.find(([prefix]) => typeof path === 'string' && path.startsWith(prefix))
  return known?.[1] ?? DEFAULT_POOL
}
