// Which playbooks the tools of a document start, as it is written: by kind playbook, and by kind playbooks, a list of texts or
// maps. Where a template makes the path, the template is what is found.
import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export interface ChildCall {
  /** Undefined: by its catalog id. */
  path?: string
  catalogId?: string
  /** Of the path or the id in the document. */
  pointer: string
}

export function childCalls(document: JsonObject): ChildCall[] {
  return ['workflow', 'workbook'].flatMap((key) => callsIn(document[key] ?? null, `/${key}`))
}

function callsIn(value: JsonValue, pointer: string): ChildCall[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => callsIn(item, `${pointer}/${index}`))
  if (!isJsonObject(value)) return []
  const nested = Object.entries(value).flatMap(([key, inner]) => callsIn(inner, `${pointer}/${escapeSegment(key)}`))
  return [...namedBy(value, pointer), ...nested]
}

function namedBy(tool: JsonObject, pointer: string): ChildCall[] {
  const { kind, playbooks } = tool
  if (kind === 'playbook') return callOf(tool, pointer)
  if (kind !== 'playbooks' || !Array.isArray(playbooks)) return []
  return playbooks.flatMap((item, index) => {
    const place = `${pointer}/playbooks/${index}`
    if (typeof item === 'string') return [{ path: item, pointer: place }]
    return isJsonObject(item) ? callOf(item, place) : []
  })
}

/** A path goes before an id, as in the engine. */
function callOf({ path, catalog_id: id }: JsonObject, pointer: string): ChildCall[] {
  if (path !== undefined) return typeof path === 'string' ? [{ path, pointer: `${pointer}/path` }] : []
  const isId = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
  return isId ? [{ catalogId: String(id), pointer: `${pointer}/catalog_id` }] : []
}
