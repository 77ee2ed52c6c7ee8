// `set` and `vars`: where a value goes and the template that gives it. `ctx.a.b` has a scope and a path; a name without a
// scope belongs where its block says.

import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import type { Assignment, Scope } from './plan.js'
import type { PlanSite, TemplateUse } from './site.js'

const SCOPES: readonly Scope[] = ['ctx', 'vars', 'step', 'iter']

export interface AssignmentPlace<B extends string> {
  readonly pointer: string
  /** The scope of a name without one. */
  readonly bare: B
  readonly by: TemplateUse['by']
}

export function readAssignments<B extends string>(
  source: JsonValue | undefined,
  place: AssignmentPlace<B>,
  site: PlanSite,
): Assignment<Scope | B>[] {
  if (source === undefined) return []
  if (!isJsonObject(source)) {
    site.problems.error(place.pointer, 'must be a mapping of names to templates')
    return []
  }
  return Object.entries(source).flatMap(([key, value]) => {
    const pointer = `${place.pointer}/${escapeSegment(key)}`
    const [first, ...rest] = key.split('.')
    const scope = rest.length === 0 ? undefined : SCOPES.find((one) => one === first)
    const path = scope === undefined ? key.split('.') : rest
    if (path.some((part) => part.trim() === '')) {
      site.problems.error(pointer, `${JSON.stringify(key)} is not a name such as ctx.total`)
      return []
    }
    const into = scope ?? place.bare
    if (into === 'ctx' || into === 'local') site.names.add(path[0] as string)
    return [{ scope: into, path, value: site.tree(value, pointer, { by: place.by }), pointer }]
  })
}
