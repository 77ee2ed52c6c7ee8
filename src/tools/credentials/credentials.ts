// Where credentials come from. The daemon adds the stored ones; a file and the environment need no key.
import { readFileSync } from 'node:fs'
import { parseJsonStrict } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { CpError, messageOf } from '../../errors.js'

export interface Credential {
  readonly name: string
  /** `postgres`, `bearer`, `basic`, `api_key`, `nats` …; empty when nobody says. */
  readonly type: string
  readonly data: JsonObject
}

export interface Credentials {
  /** Undefined when there is none of that name. The execution is for the log of reads. */
  find(name: string, executionId: string): Promise<Credential | undefined>
}

/** The first source that knows the name. */
export function firstOf(...sources: readonly Credentials[]): Credentials {
  return {
    find: async (name, executionId) => {
      for (const source of sources) {
        const found = await source.find(name, executionId)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

const FILE_DEPTH_MAX = 20

/** A JSON list of {name, type, data}, read once. Messages never show what is in it. */
export function credentialsOfFile(path: string): Credentials {
  let document: JsonValue
  try {
    document = parseJsonStrict(readFileSync(path, 'utf8'), { maxDepth: FILE_DEPTH_MAX })
  } catch (error) {
    const why = error instanceof CpError ? `is not JSON (offset ${error.details['offset']})` : messageOf(error)
    throw new CpError('config', `NOETL_CP_CREDENTIALS_FILE: ${path} ${why}`)
  }
  if (!Array.isArray(document))
    throw new CpError('config', `NOETL_CP_CREDENTIALS_FILE: ${path} holds no list of credentials`)
  const byName = new Map<string, Credential>()
  document.forEach((item, index) => {
    const name = isJsonObject(item) ? item['name'] : undefined
    const data = isJsonObject(item) ? item['data'] : undefined
    if (!isJsonObject(item) || typeof name !== 'string' || !isJsonObject(data)) {
      throw new CpError('config', `NOETL_CP_CREDENTIALS_FILE: item ${index + 1} of ${path} needs name and data`)
    }
    byName.set(name, { name, type: typeof item['type'] === 'string' ? item['type'] : '', data })
  })
  return { find: async (name) => byName.get(name) }
}

/** NOETL_CRED_<NAME>_<FIELD>: `pg_local` and its `db_host` are NOETL_CRED_PG_LOCAL_DB_HOST. */
export function credentialsOfEnvironment(environment: Readonly<Record<string, string | undefined>>): Credentials {
  return {
    find: async (name) => {
      const prefix = `NOETL_CRED_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_`
      const data: JsonObject = {}
      for (const key of Object.keys(environment)) {
        const value = environment[key]
        if (key.startsWith(prefix) && value !== undefined) setKey(data, key.slice(prefix.length).toLowerCase(), value)
      }
      if (Object.keys(data).length === 0) return undefined
      const { type = '', ...fields } = data as Record<string, string>
      return { name, type, data: fields }
    },
  }
}
