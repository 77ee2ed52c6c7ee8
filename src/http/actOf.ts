// What a request is, as an act of a person: its name and what it is about, from the route's path alone, so that no route can
// forget to say.
import { isJsonObject, type JsonValue } from '../domain/json/value.js'
import type { Act } from '../services/access/acts.js'
import type { ApiRequest, RouteSpec } from './route.js'

/** What a session does, and whatever is done through the routes for operators. The rest is the traffic of programs. */
export function isAct({ access, effect }: RouteSpec, { caller }: Pick<ApiRequest, 'caller'>): boolean {
  return effect === 'write' && (access === 'operator' || caller.by === 'session')
}

/** `POST /api/executions/:execution_id/cancel` → executions.cancel, of the execution with that id. */
export function actOf(route: RouteSpec, request: ApiRequest): Act {
  const { caller, params, body, large } = request
  const words = route.path.split('/').filter((word) => word !== '' && word !== 'api' && word !== 'internal')
  const spoken = words.filter((word) => !word.startsWith(':') || word === ':action')
  const action = spoken.map((word) => (word === ':action' ? (params['action'] ?? '') : word))
  if (route.method === 'DELETE') action.push('delete')
  const [, named] = Object.entries(params).find(([name]) => name !== 'action') ?? []
  const execution = isJsonObject(body) ? body['execution_id'] : undefined
  const target = named ?? (execution == null ? undefined : String(execution))
  // Where `reason` chooses rows by what they died of, `note` alone says why.
  const isChoice = route.body?.properties?.['note'] !== undefined
  const reason = isJsonObject(body) ? (body['note'] ?? (isChoice ? undefined : body['reason'])) : undefined
  return {
    actor: caller.actor,
    role: caller.role,
    via: caller.by === 'session' ? 'console' : 'api',
    action: action.join('.'),
    targetKind: target === undefined ? null : named === undefined ? 'execution' : (words[0] ?? '').replace(/s$/, ''),
    targetId: target ?? null,
    reason: typeof reason === 'string' ? reason : null,
    request: large === undefined ? recorded(route, body) : { bytes: large.length },
  }
}

function recorded({ hidesBody }: RouteSpec, body: JsonValue | undefined): JsonValue {
  return body === undefined || hidesBody === true ? null : body
}
