// What a worker of another program is given to work with: arguments that are whole stored results hold their values, if they are
// not too large; larger ones stay maps with `_ref`, which the worker resolves itself. The built-in worker resolves all of them.
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { at, pathOf, replaced } from '../../domain/tool/deferredTemplates.js'
import type { HeldCommand } from './handOut.js'

/** JSON text; undefined: it can never be had. */
export type ReadResult = (ref: string) => Promise<string | undefined>

const RESOLVED_BYTES_MAX = 512 * 1024

export async function foreignContext(
  { context, meta }: Pick<HeldCommand, 'context' | 'meta'>,
  read: ReadResult,
): Promise<JsonObject> {
  const { references } = meta
  if (!Array.isArray(references)) return context
  let resolved = context
  for (const pointer of references) {
    const path = pathOf(String(pointer))
    const found = at(resolved, path)
    if (!isJsonObject(found) || typeof found['__ref__'] !== 'string') continue
    if (Number(found['_bytes'] ?? Number.POSITIVE_INFINITY) > RESOLVED_BYTES_MAX) continue
    const text = await read(found['__ref__'])
    // What is gone stays a reference: the worker learns it when it asks.
    if (text !== undefined) resolved = replaced(resolved, path, parseJson(text)) as JsonObject
  }
  return resolved
}
