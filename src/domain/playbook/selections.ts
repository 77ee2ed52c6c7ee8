// `output_select` of a tool, and `output.select` of a step or tool: parts of its data that have names of their own, such as
// `[data.items, {path: data.paging.next, as: next}]`.

import type { Reader } from '../catalog/violation.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import { OUTPUT_KEYS, warnUnknownKeys } from './knownKeys.js'
import type { Selection } from './plan.js'
import type { PlanSite } from './site.js'

export function readSelections(step: Reader, site: PlanSite): Selection[] {
  const tool = step.value('tool')
  const ofTool = isJsonObject(tool) ? listsOf(tool['output'], `${step.path}/tool/output`, site) : []
  const plain = isJsonObject(tool) ? ([[tool['output_select'], `${step.path}/tool/output_select`]] as const) : []
  const ofStep = listsOf(step.value('output'), `${step.path}/output`, site)
  return [...ofStep, ...plain, ...ofTool].flatMap(([list, pointer]) => {
    if (list === undefined || list === null) return []
    const items = Array.isArray(list) ? list : [list]
    return items.flatMap((item, index) => readSelection(item, `${pointer}/${index}`, site))
  })
}

type PlacedList = readonly [list: JsonValue | undefined, pointer: string]

function listsOf(output: JsonValue | undefined, pointer: string, site: PlanSite): PlacedList[] {
  if (!isJsonObject(output)) return []
  warnUnknownKeys(site.reader(output, pointer), OUTPUT_KEYS, site)
  return ['select', 'output_select'].map((key) => [output[key], `${pointer}/${key}`])
}

function readSelection(item: JsonValue, pointer: string, site: PlanSite): Selection[] {
  const text = isJsonObject(item) ? item['path'] : item
  const path = typeof text === 'string' ? pathOf(text) : []
  const name = (isJsonObject(item) ? (item['as'] ?? item['name']) : undefined) ?? path.at(-1)
  if (path.length > 0 && (typeof name === 'string' || typeof name === 'number')) return [{ name: String(name), path }]
  site.problems.warn(pointer, 'selects nothing; write a path such as data.items, or {path: data.items, as: items}')
  return []
}

const PART = /\[(\d+)\]|\[["']([^"']*)["']\]|([^.[\]]+)/g

/** `$.rows[0].id` and `rows.0.id` are the same. */
function pathOf(text: string): (string | number)[] {
  return [
    ...text
      .trim()
      .replace(/^\$\.?/, '')
      .matchAll(PART),
  ].map(([, index, quoted, name = '']) => {
    if (quoted !== undefined) return quoted
    const word = index ?? name.trim()
    return /^\d{1,9}$/.test(word) ? Number(word) : word
  })
}
