// Query-string values checked against their schemas. The text stays text: a 64-bit id must not pass
// through a JavaScript number.
import { CpError } from '../errors.js'
import type { RouteSpec } from './route.js'
import { violation } from './schema.js'

export function checkQuery(route: RouteSpec, query: Record<string, unknown>): Record<string, string | undefined> {
  const result: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) throw new CpError('invalid_input', `query parameter ${name} is given more than once`)
    const text = String(value)
    // No stored text holds it, and Postgres would refuse it with words that help nobody.
    if (text.includes('\u0000')) throw new CpError('invalid_input', `query parameter ${name} must not contain NUL`)
    result[name] = text
  }
  for (const [name, schema] of Object.entries(route.query ?? {})) {
    const text = result[name]
    if (text === undefined) continue
    if (schema.type === 'boolean' && !/^(true|false|1|0|yes|no|on|off|t|f|y|n)$/i.test(text)) {
      throw new CpError('invalid_input', `query parameter ${name} must be true or false`)
    }
    if (schema.type === 'integer' && schema.format !== 'int64' && !/^[+-]?\d{1,15}$/.test(text)) {
      throw new CpError('invalid_input', `query parameter ${name} must be an integer`)
    }
    const value = schema.type === 'integer' && schema.format !== 'int64' ? Number(text) : text
    const found = schema.type === 'boolean' ? undefined : violation(schema, value, '')
    if (found !== undefined) throw new CpError('invalid_input', found.replace('the body', `query parameter ${name}`))
  }
  return result
}

export function queryBoolean(text: string | undefined, fallback: boolean): boolean {
  return text === undefined ? fallback : /^(true|1|yes|on|t|y)$/i.test(text)
}
