// What stands under `auth` or `credential` of a tool, as the fields of one credential: an alias, a map that names one, the
// fields themselves, or several by role. Whatever is used is masked in all that the command reports.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { type SecretRules, secretRules } from '../../domain/secrets/secretNames.js'
import type { SecretMask } from '../../domain/tool/secretMask.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { Credentials } from './credentials.js'

export interface Auth {
  /** The fields, with `type`; undefined when nothing is asked for. `wanted`: which of several. */
  fieldsOf(auth: JsonValue | undefined, wanted: string): Promise<JsonObject | undefined>
  /** All of several, by role. */
  byRole(auth: JsonValue | undefined): Promise<ReadonlyMap<string, JsonObject>>
  readonly mask: SecretMask
}

const RULES: SecretRules = secretRules(['key', 'value', 'nats_token', 'sas', 'pem'])
const ALIAS_NAMES = ['alias', 'credential', 'name'] as const

export function createAuth(credentials: Credentials, mask: SecretMask, executionId: string): Auth {
  async function named(alias: string): Promise<JsonObject> {
    const found = await credentials.find(alias, executionId)
    if (found === undefined) throw new ToolFailure('credential', `credential "${alias}" not found`)
    // What was registered as a whole document holds its fields one level down.
    const data = isJsonObject(found.data['data']) ? { ...found.data, ...found.data['data'] } : found.data
    return guarded({ ...(found.type === '' ? {} : { type: found.type }), ...data })
  }

  function guarded(fields: JsonObject): JsonObject {
    maskSecrets(fields, mask)
    return fields
  }

  async function oneOf(auth: JsonObject): Promise<JsonObject> {
    const alias = ALIAS_NAMES.map((name) => auth[name]).find((value) => typeof value === 'string' && value !== '')
    return alias === undefined ? guarded(auth) : { ...(await named(alias as string)) }
  }

  async function fieldsOf(auth: JsonValue | undefined, wanted: string): Promise<JsonObject | undefined> {
    if (auth === undefined || auth === null || auth === '') return undefined
    if (typeof auth === 'string') return named(auth)
    if (!isJsonObject(auth)) throw new ToolFailure('config', 'auth must be the name of a credential or a map')
    const roles = rolesOf(auth)
    if (roles.length === 0) return oneOf(auth)
    const [, chosen] = roles.find(([role, { type }]) => type === wanted || role === wanted) ?? (roles[0] as Role)
    return oneOf(chosen)
  }

  return {
    mask,
    fieldsOf,
    byRole: async (auth) => {
      const found = new Map<string, JsonObject>()
      if (!isJsonObject(auth)) {
        const single = await fieldsOf(auth, '')
        if (single !== undefined) found.set(String(single['type'] ?? ''), single)
        return found
      }
      const roles = rolesOf(auth)
      if (roles.length === 0) found.set(String(auth['type'] ?? ''), await oneOf(auth))
      for (const [role, entry] of roles) found.set(role, { ...entry, ...(await oneOf(entry)) })
      return found
    },
  }
}

type Role = [string, JsonObject]

/** `{pg: {type: postgres, credential: pg_local}, …}`. */
function rolesOf(auth: JsonObject): Role[] {
  const roles = Object.entries(auth).filter((entry): entry is Role => isJsonObject(entry[1]))
  const isRole = ([, entry]: Role): boolean =>
    typeof entry['type'] === 'string' || ALIAS_NAMES.some((name) => typeof entry[name] === 'string')
  return roles.length > 0 && roles.length === Object.keys(auth).length && roles.every(isRole) ? roles : []
}

function maskSecrets(fields: JsonObject, mask: SecretMask): void {
  for (const key of Object.keys(fields)) {
    const value = fields[key] as JsonValue
    if (RULES.judge(key) !== 'open') mask.addAll(value)
    else if (isJsonObject(value)) maskSecrets(value, mask)
  }
}
