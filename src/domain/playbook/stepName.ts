// Names of steps are texts. YAML reads 1 and true as something else; whoever writes them is told to quote them.

import type { Reader } from '../catalog/violation.js'
import { floatText } from '../json/number.js'
import { Float, type JsonValue } from '../json/value.js'

export function readStepName(reader: Reader, key: string): string | undefined {
  const hint = quoteHint(reader.value(key))
  return hint === undefined ? reader.text(key, 'required') : reader.wrong(key, hint)
}

/** Undefined: it is nothing that quotes would make a name. */
export function quoteHint(value: JsonValue | undefined): string | undefined {
  if (value instanceof Float) return hintFor('number', floatText(value.value))
  if (typeof value === 'number' || typeof value === 'bigint') return hintFor('number', String(value))
  return typeof value === 'boolean' ? hintFor('boolean', String(value)) : undefined
}

function hintFor(what: string, text: string): string {
  return `is the ${what} ${text}, and names of steps are texts; put it in quotes: "${text}"`
}
