// Parts of a step's data that its author has given names: `<step>.<name>` and `output.<name>`. They are looked up in the
// data itself, wherever it is stored; not listed, and no key of the data gives way to them.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { Selection } from '../playbook/plan.js'
import type { TemplateValue } from '../template/run.js'
import type { Board } from './board.js'
import { dataIn } from './references.js'
import type { VisitData } from './visitData.js'

export function withSelected(
  root: TemplateValue,
  board: Board,
  visit: VisitData,
  selections: readonly Selection[],
): TemplateValue {
  const { reference } = visit
  // Whoever reads one of them has asked for the whole before.
  const isAway = reference !== undefined && !board.input.fetched.has(reference.ref)
  if (selections.length === 0 || isAway || !isJsonObject(root)) return root
  const shown = Object.defineProperties({}, Object.getOwnPropertyDescriptors(root)) as JsonObject
  const data = dataIn(board, visit)
  for (const { name, path } of selections) {
    if (Object.hasOwn(shown, name)) continue
    const value = partOf(data, path)
    if (value !== undefined) Object.defineProperty(shown, name, { value })
  }
  return shown
}

function partOf(data: JsonValue, path: readonly (string | number)[]): JsonValue | undefined {
  const [first, ...rest] = path
  const isWhole = (first === 'data' || first === 'result') && !(isJsonObject(data) && Object.hasOwn(data, first))
  let value: JsonValue | undefined = data
  for (const key of isWhole ? rest : path) {
    if (Array.isArray(value)) value = typeof key === 'number' ? value[key] : undefined
    else value = isJsonObject(value) && Object.hasOwn(value, String(key)) ? value[String(key)] : undefined
  }
  return value
}
