// What `set` and `vars` write. All values of a block are rendered against what was there before it; then they are written
// in document order. A dotted rest (`ctx.a.b`) changes one key of a copied map.

import { asStored } from '../json/asStored.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { Assignment, Scope } from '../playbook/plan.js'
import type { Board } from './board.js'
import type { EngineContext } from './engineContext.js'
import { renderTree } from './render.js'

export interface Writes {
  readonly ctx: JsonObject
  readonly vars: JsonObject
  /** Into the data of the step itself. */
  readonly own: JsonObject
}

export function noWrites(): Writes {
  return { ctx: {}, vars: {}, own: {} }
}

export function hasWrites({ ctx, vars }: Writes): boolean {
  return Object.keys(ctx).length > 0 || Object.keys(vars).length > 0
}

/** Adds what the assignments write; the board sees it from now on. */
export function assign(board: Board, assignments: readonly Assignment[], context: EngineContext, into: Writes): void {
  const values = assignments.map(({ value, pointer }) => renderTree(value, context, pointer))
  for (const [index, { scope, path }] of assignments.entries())
    put(board, into, scope, path, values[index] as JsonValue)
  board.write(into.ctx, into.vars)
}

/** `_context_updates` of a pipeline: a map of keys per scope, or single keys with their scope in front. */
export function assignUpdates(board: Board, updates: JsonObject, into: Writes): void {
  for (const [key, value] of Object.entries(updates)) {
    if (SCOPES.has(key) && isJsonObject(value)) {
      for (const name of Object.keys(value)) put(board, into, key as Scope, [name], value[name] as JsonValue)
      continue
    }
    const parts = key.split('.')
    const scope = SCOPES.has(parts[0] as string) && parts.length > 1 ? (parts.shift() as Scope) : 'ctx'
    put(board, into, scope, parts, value)
  }
  board.write(into.ctx, into.vars)
}

const SCOPES: ReadonlySet<string> = new Set(['ctx', 'vars', 'step', 'iter'])

function put(board: Board, into: Writes, scope: Scope, path: readonly string[], value: JsonValue): void {
  // Of one iteration only, and that is over.
  if (scope === 'iter') return
  const target = scope === 'ctx' ? into.ctx : scope === 'vars' ? into.vars : into.own
  const before = scope === 'ctx' ? board.ctx : scope === 'vars' ? board.vars : {}
  const [key, ...rest] = path as [string, ...string[]]
  const base = Object.hasOwn(target, key) ? target[key] : Object.hasOwn(before, key) ? before[key] : undefined
  setKey(target, key, asStored(rest.length === 0 ? value : changed(base, rest, value)))
}

function changed(base: JsonValue | undefined, path: readonly string[], value: JsonValue): JsonValue {
  const [key, ...rest] = path
  if (key === undefined) return value
  const map: JsonObject = isJsonObject(base) ? { ...base } : {}
  setKey(map, key, changed(Object.hasOwn(map, key) ? map[key] : undefined, rest, value))
  return map
}
