// One value below a way of keys changed, everything beside it as it was: how `--set a.b=1` is meant.
import { CpError } from '../../errors.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from './value.js'

export interface Assignment {
  /** As given, for messages. */
  name: string
  keys: readonly string[]
  value: JsonValue
}

/** `a.b`, or as templates name it and people type it: `workload.a.b`. Throws `invalid_input` when a key is empty. */
export function assignment(name: string, value: JsonValue): Assignment {
  const path = name.split('.')
  const keys = path.length > 1 && path[0] === 'workload' ? path.slice(1) : path
  if (keys.some((key) => key === '')) throw new CpError('invalid_input', `${JSON.stringify(name)}: a key is empty`)
  return { name, keys, value }
}

/** Changes the map itself and copies what lies below. `otherwise` gives what a first key stands for that it does not have. */
export function assign(
  target: JsonObject,
  { name, keys, value }: Assignment,
  otherwise: (key: string) => JsonValue | undefined = () => undefined,
): void {
  const [first, ...rest] = keys as [string, ...string[]]
  const base = Object.hasOwn(target, first) ? target[first] : otherwise(first)
  setKey(target, first, replaced(base, rest, value, { name, way: first }))
}

/** What it is a copy of may be part of the playbook. */
function replaced(
  base: JsonValue | undefined,
  keys: readonly string[],
  value: JsonValue,
  at: { name: string; way: string },
): JsonValue {
  const [key, ...rest] = keys
  if (key === undefined) return value
  const deeper = { name: at.name, way: `${at.way}.${key}` }
  if (Array.isArray(base)) {
    const index = indexIn(base, key, at)
    return base.with(index, replaced(base[index], rest, value, deeper))
  }
  const map: JsonObject = isJsonObject(base) ? { ...base } : {}
  setKey(map, key, replaced(Object.hasOwn(map, key) ? map[key] : undefined, rest, value, deeper))
  return map
}

function indexIn(list: readonly JsonValue[], key: string, { name, way }: { name: string; way: string }): number {
  const index = /^\d{1,9}$/.test(key) ? Number(key) : undefined
  if (index !== undefined && index < list.length) return index
  const items = list.length === 1 ? 'one item, 0' : `${list.length} items, 0 to ${list.length - 1}`
  const has = list.length === 0 ? 'is an empty list' : `is a list of ${items}`
  throw new CpError(
    'invalid_input',
    `--set ${name}: ${way} ${has}, and has no item ${JSON.stringify(key)}; to change its length give all of it: --set '${way}=[…]'`,
  )
}
