// Values that a pipeline sets, by scope: `ctx.` and `vars.` are reported to the engine, `step.` becomes part of the
// step's data, `iter.` lives as long as the iteration, and a bare name of a task's `set` as long as the pipeline.

import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { Assignment, Scope } from '../playbook/plan.js'

export type WorkerScope = Scope | 'local'

export class ScopedValues {
  /** As templates see it. */
  private readonly maps: Record<WorkerScope, JsonObject> = { ctx: {}, vars: {}, step: {}, iter: {}, local: {} }
  /** As the engine is told it: by path, none of them within another. Here only a part of the maps before is known. */
  private readonly told = { ctx: new Map<string, JsonValue>(), vars: new Map<string, JsonValue>() }

  /** `base`: the maps as they were before the pipeline, for writes into a part of a value. */
  constructor(private readonly base: { readonly [scope in WorkerScope]?: JsonValue | undefined }) {}

  /** `ctx.a.b` writes b into a copy of the map a. */
  write({ scope, path }: Pick<Assignment<WorkerScope>, 'scope' | 'path'>, value: JsonValue): void {
    const [key, ...rest] = path as [string, ...string[]]
    setKey(this.maps[scope], key, rest.length === 0 ? value : written(this.get(scope, key), rest, value))
    if (scope === 'ctx' || scope === 'vars') tell(this.told[scope], path, value)
  }

  get(scope: WorkerScope, key: string): JsonValue | undefined {
    const map = this.maps[scope]
    if (Object.hasOwn(map, key)) return map[key]
    const base = this.base[scope]
    return isJsonObject(base) && Object.hasOwn(base, key) ? base[key] : undefined
  }

  /** What was written. */
  writes(scope: WorkerScope): JsonObject {
    return this.maps[scope]
  }

  /** As templates see it: what was there, with the writes over it. */
  whole(scope: WorkerScope): JsonValue | undefined {
    const base = this.base[scope]
    const writes = this.maps[scope]
    if (Object.keys(writes).length === 0) return base
    return isJsonObject(base) ? { ...base, ...writes } : writes
  }

  /** For the engine: `{ctx: {…}, vars: {…}, 'ctx.a.b': …}`; undefined when there is nothing to tell. */
  updates(): JsonObject | undefined {
    const updates: JsonObject = {}
    for (const scope of ['ctx', 'vars'] as const) {
      const whole: JsonObject = {}
      for (const [path, value] of this.told[scope]) {
        if (path.includes('.')) updates[`${scope}.${path}`] = value
        else setKey(whole, path, value)
      }
      if (Object.keys(whole).length > 0) updates[scope] = whole
    }
    return Object.keys(updates).length === 0 ? undefined : updates
  }
}

function tell(told: Map<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  for (let length = 1; length < path.length; length++) {
    const above = path.slice(0, length).join('.')
    if (!told.has(above)) continue
    told.set(above, written(told.get(above), path.slice(length), value))
    return
  }
  const name = path.join('.')
  for (const other of told.keys()) if (other.startsWith(`${name}.`)) told.delete(other)
  told.set(name, value)
}

function written(target: JsonValue | undefined, path: readonly string[], value: JsonValue): JsonObject {
  const copy: JsonObject = isJsonObject(target) ? { ...target } : {}
  const [key, ...rest] = path as [string, ...string[]]
  const inner = Object.hasOwn(copy, key) ? copy[key] : undefined
  setKey(copy, key, rest.length === 0 ? value : written(inner, rest, value))
  return copy
}
