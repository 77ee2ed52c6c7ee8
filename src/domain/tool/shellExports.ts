// Variables that a shell step hands on: lines KEY=VALUE of its output.

import { type JsonObject, type JsonValue, setKey } from '../json/value.js'

const LINE = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/

/** `wanted`: names in any case, or true for all. The author's spelling is the key. */
export function shellExports(output: string, wanted: JsonValue | undefined): JsonObject | undefined {
  if (wanted === undefined || wanted === null || wanted === false) return undefined
  const names = Array.isArray(wanted) ? wanted.map(String) : typeof wanted === 'string' ? [wanted] : undefined
  const byLower = new Map(names?.map((name) => [name.toLowerCase(), name]))
  const found: JsonObject = {}
  for (const line of output.split(/\r?\n/)) {
    const [, name, value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const key = names === undefined ? name : byLower.get(name.toLowerCase())
    if (key !== undefined) setKey(found, key, unquoted(value))
  }
  return found
}

function unquoted(value: string): string {
  const quote = value[0]
  return (quote === '"' || quote === "'") && value.length > 1 && value.endsWith(quote) ? value.slice(1, -1) : value
}
