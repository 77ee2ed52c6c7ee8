// `output_select` of a tool, and `output.select` of a step or tool: parts of its data that have names of their own, such as
// `[data.items, {path: data.paging.next, as: next}]`.

import type { Reader } from '../catalog/violation.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import { OUTPUT_KEYS, warnUnknownKeys } from './knownKeys.js'
import type { Selection } from './plan.js'
import type { PlanSite } from './site.js'
import type { ToolSource } from './toolSource.js'

export function stepSelections(step: Reader, site: PlanSite): Selection[] {
  return selectionsIn(outputLists(step, site), site)
}

/** Of every task: in a list of them a path begins at the data of its own. */
export function toolSelections({ tasks, isSingle }: ToolSource, site: PlanSite): Selection[] {
  return tasks.flatMap(({ label, tool }) => {
    const plain = [tool.value('output_select'), `${tool.path}/output_select`] as const
    const found = selectionsIn([plain, ...outputLists(tool, site)], site)
    return isSingle ? found : found.flatMap((one) => below(label, one))
  })
}

type PlacedList = readonly [list: JsonValue | undefined, pointer: string]

function outputLists(reader: Reader, site: PlanSite): PlacedList[] {
  const output = reader.value('output')
  if (!isJsonObject(output)) return []
  const pointer = `${reader.path}/output`
  warnUnknownKeys(site.reader(output, pointer), OUTPUT_KEYS, site)
  return ['select', 'output_select'].map((key) => [output[key], `${pointer}/${key}`])
}

function selectionsIn(lists: readonly PlacedList[], site: PlanSite): Selection[] {
  return lists.flatMap(([list, pointer]) => {
    if (list === undefined || list === null) return []
    const items = Array.isArray(list) ? list : [list]
    return items.flatMap((item, index) => readSelection(item, `${pointer}/${index}`, site))
  })
}

/** `data.x` is x of the data, unless the data has a key `data`: the first that is there counts. */
function below(label: string, { name, path }: Selection): Selection[] {
  const [first, ...rest] = path
  const own = { name, path: [label, ...path] }
  return first === 'data' || first === 'result' ? [own, { name, path: [label, ...rest] }] : [own]
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
