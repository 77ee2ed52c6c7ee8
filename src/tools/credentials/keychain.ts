// The keychain of a playbook: named secrets that its templates read. An entry is opened when it is first read, and only
// here, where the tool runs. Tokens are kept in memory until shortly before they expire, for all commands of the same
// playbook. Every value is masked in what the command reports.
import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { fieldOf, scalarText, textField } from '../../domain/tool/configFields.js'
import type { ToolCommand } from '../../domain/tool/toolCommand.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { Clock } from '../../runtime/clock.js'
import type { Auth } from './auth.js'
import type { Credentials } from './credentials.js'

/** What asks for a token over HTTP: the http tool, without its playbook around it. */
export type TokenRequest = (config: JsonObject, signal: AbortSignal) => Promise<JsonValue>

interface CachedToken {
  readonly value: JsonObject
  readonly until: number
}

const CACHED_MAX = 1_000
const NESTING_MAX = 5
/** Asked for again this long before it expires. */
const RENEW_SECONDS = 60
/** For answers that do not say. */
const LIFETIME_SECONDS = 360
const TOKEN_NAMES = ['access_token', 'token', 'id_token', 'api_key', 'key', 'password', 'value'] as const

/** Shared by all commands of a worker. */
export class TokenCache {
  private readonly tokens = new Map<string, CachedToken>()

  constructor(private readonly clock: Clock) {}

  get(key: string): JsonObject | undefined {
    const cached = this.tokens.get(key)
    return cached !== undefined && cached.until > this.clock.now() ? cached.value : undefined
  }

  put(key: string, value: JsonObject): void {
    const lifetime = Number(scalarText(value['expires_in'] ?? '')) || LIFETIME_SECONDS
    if (this.tokens.size >= CACHED_MAX) this.tokens.delete(this.tokens.keys().next().value as string)
    this.tokens.delete(key)
    this.tokens.set(key, { value, until: this.clock.now() + (lifetime - RENEW_SECONDS) * 1000 })
  }
}

export interface KeychainDeps {
  readonly credentials: Credentials
  readonly cache: TokenCache
  readonly requestToken: TokenRequest
}

/** Renders the texts of an entry, which may read other entries. */
export type RenderEntry = (entry: JsonObject, depth: number) => Promise<JsonObject>

export class Keychain {
  private readonly opened = new Map<string, JsonObject>()

  constructor(
    private readonly command: ToolCommand,
    private readonly auth: Auth,
    private readonly deps: KeychainDeps,
    private readonly renderEntry: RenderEntry,
    private readonly signal: AbortSignal,
  ) {}

  async open(name: string, depth = 0): Promise<JsonObject> {
    const known = this.opened.get(name)
    if (known !== undefined) return known
    if (depth > NESTING_MAX) throw new ToolFailure('credential', `keychain entry "${name}" refers to itself`)
    const entry = this.command.keychain.find((one) => one['name'] === name)
    const value = entry === undefined ? await this.credential(name, name) : await this.openEntry(name, entry, depth)
    this.auth.mask.addAll(value)
    this.opened.set(name, value)
    return value
  }

  get(name: string): JsonObject | undefined {
    return this.opened.get(name)
  }

  private async openEntry(name: string, source: JsonObject, depth: number): Promise<JsonObject> {
    const entry = await this.renderEntry(source, depth)
    const address = textField(entry, 'token_url', 'auth_url', 'endpoint')
    if (address === undefined) return this.stored(name, entry)
    const cacheKey = createHash('sha256')
      .update(`${this.command.catalogId} ${writeJson(entry)}`)
      .digest('base64')
    const cached = this.deps.cache.get(cacheKey)
    if (cached !== undefined) return cached
    const token = await this.clientCredentials(name, entry, address)
    this.deps.cache.put(cacheKey, token)
    return token
  }

  /** OAuth client credentials. */
  private async clientCredentials(name: string, entry: JsonObject, url: string): Promise<JsonObject> {
    const stored = await this.auth.fieldsOf(fieldOf(entry, 'credential', 'auth'), 'oauth2')
    const fields = { ...stored, ...entry }
    const form: JsonObject = isJsonObject(entry['data'])
      ? entry['data']
      : {
          grant_type: 'client_credentials',
          ...picked(fields, ['client_id', 'client_secret', 'audience']),
          ...scope(fields),
        }
    const answer = await this.deps.requestToken(
      { url, method: 'POST', form, ...(isJsonObject(entry['headers']) ? { headers: entry['headers'] } : {}) },
      this.signal,
    )
    if (!isJsonObject(answer) || tokenOf(answer) === undefined) {
      throw new ToolFailure('credential', `keychain entry "${name}": ${url} answered without a token`)
    }
    return answer
  }

  private async stored(name: string, entry: JsonObject): Promise<JsonObject> {
    const own = await this.deps.credentials.find(name, this.command.executionId)
    const alias = textField(entry, 'credential')
    const fields = own?.data ?? (alias === undefined ? undefined : await this.credential(alias, name))
    const map = entry['map']
    if (!isJsonObject(map)) {
      if (fields !== undefined) return fields
      const { name: _, kind, provider, scope: __, auth, credential, ...inline } = entry
      if (Object.keys(inline).some((key) => (TOKEN_NAMES as readonly string[]).includes(key))) return inline
      throw this.notHere(name, entry, name)
    }
    const value: JsonObject = {}
    for (const [field, source] of Object.entries(map))
      value[field] = await this.mapped(name, entry, fields, field, source)
    return value
  }

  /** `map` renames fields of the credential; behind a secret manager it names one secret each. */
  private async mapped(
    name: string,
    entry: JsonObject,
    fields: JsonObject | undefined,
    field: string,
    source: JsonValue,
  ): Promise<JsonValue> {
    const key = scalarText(source)
    const found = fields?.[key] ?? fields?.[field]
    if (found !== undefined) return found
    const secret = await this.deps.credentials.find(key, this.command.executionId)
    const token = secret === undefined ? undefined : tokenOf(secret.data)
    if (token === undefined) throw this.notHere(name, entry, key)
    return token
  }

  private async credential(alias: string, name: string): Promise<JsonObject> {
    const found = await this.auth.fieldsOf(alias, '').catch((error: unknown) => {
      throw error instanceof ToolFailure
        ? new ToolFailure('credential', `keychain entry "${name}": ${error.message}`)
        : error
    })
    return found ?? {}
  }

  private notHere(name: string, entry: JsonObject, wanted: string): ToolFailure {
    const provider = textField(entry, 'provider')
    const from = provider === undefined ? '' : ` (provider ${provider} is not reached from here)`
    return new ToolFailure('credential', `keychain entry "${name}"${from}: store a credential named "${wanted}"`)
  }
}

/** The token of an entry, where one text is wanted. */
export function tokenOf(fields: JsonObject): string | undefined {
  for (const name of TOKEN_NAMES) if (typeof fields[name] === 'string') return fields[name]
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  return texts.length === 1 ? texts[0] : undefined
}

function picked(fields: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name): [string, JsonValue][] => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  )
}

/** `scope: global` says where an entry is known, not what a token may do. */
function scope(fields: JsonObject): JsonObject {
  const value = fields['oauth_scope'] ?? fields['scope']
  return typeof value === 'string' && !['global', 'catalog', 'execution', 'local'].includes(value)
    ? { scope: value }
    : {}
}
