// The environment of processes that steps start: short, so that nothing of ours leaks, and what the author adds.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { scalarText } from '../../domain/tool/configFields.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'

export type Environment = Readonly<Record<string, string>>

const KEPT = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export function shortEnvironment(own: Readonly<Record<string, string | undefined>>): Environment {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH, LANG: 'C.UTF-8' }
  for (const name of KEPT) {
    const value = own[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/** `env` as a map, or as a list of {name, value}. */
export function withOwn(base: Environment, env: JsonValue | undefined): Environment {
  if (env === undefined || env === null) return base
  const pairs = Array.isArray(env) ? env.map(listed) : isJsonObject(env) ? Object.entries(env) : undefined
  if (pairs === undefined) throw new ToolFailure('config', 'env must be a map, or a list of {name, value}')
  const environment: Record<string, string> = { ...base }
  for (const [name, value] of pairs) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new ToolFailure('config', `env: ${name} is no name of a variable`)
    const text = scalarText(value)
    if (text.includes('\0')) throw new ToolFailure('config', `env: ${name} holds a zero character`)
    environment[name] = text
  }
  return environment
}

function listed(item: JsonValue): [string, JsonValue] {
  const entry: JsonObject = isJsonObject(item) ? item : {}
  return [scalarText(entry['name'] ?? ''), entry['value'] ?? '']
}
