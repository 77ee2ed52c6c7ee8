// Variables as they are sent to us and as the event holds them that sets them.
import { CpError } from '../../errors.js'
import { isJsonObject, type JsonObject, setKey } from '../json/value.js'

/** What a `ctx.updated` event of variables says besides them. */
export const VARS_PARTS = { context: { values: {} }, result: { status: 'CONTEXT' } } as const

/** Both forms that workers and servers use: `{name: value}`, and a list of `{var_name, var_value}`. */
export function variablesIn(body: JsonObject): JsonObject {
  const list = body['variables']
  if (!Array.isArray(list)) return isJsonObject(list) ? list : body
  const vars: JsonObject = {}
  for (const [index, item] of list.entries()) {
    const name = isJsonObject(item) ? item['var_name'] : undefined
    if (!isJsonObject(item) || typeof name !== 'string' || name === '') {
      throw new CpError('invalid_input', `/variables/${index}/var_name must be a text`)
    }
    setKey(vars, name, item['var_value'] ?? null)
  }
  return vars
}
