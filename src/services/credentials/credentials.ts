// Credentials of tools: stored sealed in the cluster database, opened only for the built-in worker, for a caller with the
// internal token, and for `credential show --data`. Values never reach events, logs or errors; every time they are
// read, that is counted and logged with the execution it was for.
import type { Databases } from '../../db/databases.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import type { Keyring } from '../../domain/secrets/keyring.js'
import { CpError } from '../../errors.js'
import {
  type CredentialRow,
  deleteCredential,
  getCredential,
  listCredentials,
  putCredential,
  resealCredential,
  type SealedCredentialRow,
} from '../../stores/credentials/credentialStore.js'
import type { Ids } from '../ids/ids.js'

export interface CredentialsDeps {
  databases: Databases
  ids: Pick<Ids, 'next'>
  /** Seals credentials. */
  keyring: Keyring
  /** A credential is stored: from now on writes need a token. */
  onStored(): void
  onRead(name: string, executionId: string | undefined): void
}

export interface CredentialInput {
  name: string
  type: string
  data: JsonObject
  meta?: JsonValue | undefined
  tags?: readonly string[] | undefined
  description?: string | undefined
}

/** A credential without its values. */
export interface Credential {
  id: string
  name: string
  type: string
  meta: JsonValue
  tags: readonly string[]
  description: string | null
  createdAt: WireTime
  updatedAt: WireTime
}

/** As routes and commands show it; its values are never part of this. */
export function shownCredential(it: Credential): JsonObject {
  return {
    id: it.id,
    name: it.name,
    type: it.type,
    meta: it.meta,
    tags: [...it.tags],
    description: it.description,
    created_at: it.createdAt,
    updated_at: it.updatedAt,
  }
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_./@-]{0,254}$/
const DATA_BYTES_MAX = 256 * 1024
const PAGE = 500

export async function storeCredential(deps: CredentialsDeps, input: CredentialInput): Promise<Credential> {
  if (!NAME.test(input.name)) {
    throw new CpError(
      'invalid_input',
      `a credential's name has letters, digits and _ . / @ -, at most 255 of them, not ${JSON.stringify(input.name.slice(0, 80))}`,
    )
  }
  const bytes = Buffer.from(writeJson(input.data))
  if (bytes.length > DATA_BYTES_MAX) {
    throw new CpError('too_large', `the data of credential ${input.name} exceeds ${DATA_BYTES_MAX} bytes`)
  }
  if (deps.keyring.sealingKeyId === undefined) {
    throw new CpError('config', 'credentials cannot be stored without a key: set NOETL_CP_CREDENTIALS_KEY')
  }
  const row = await putCredential(deps.databases.cluster.db, {
    credentialId: deps.ids.next(),
    name: input.name,
    type: input.type,
    sealed: deps.keyring.seal(bytes, placeOf(input.name)),
    meta: input.meta,
    tags: input.tags ?? [],
    description: input.description ?? null,
  })
  deps.onStored()
  return toCredential(row)
}

/** Without their values, sorted by name. */
export async function everyCredential(databases: Databases, type?: string): Promise<Credential[]> {
  const found: Credential[] = []
  for (let after = ''; ; after = found.at(-1)!.name) {
    const page = await listCredentials(databases.cluster.db, type, after, PAGE)
    found.push(...page.map(toCredential))
    if (page.length < PAGE) return found
  }
}

export async function showCredential(databases: Databases, nameOrId: string): Promise<Credential> {
  return toCredential(await find(databases, nameOrId))
}

export async function openCredential(
  deps: Pick<CredentialsDeps, 'databases' | 'keyring' | 'onRead'>,
  nameOrId: string,
  executionId?: string,
): Promise<{ credential: Credential; data: JsonObject }> {
  const row = await find(deps.databases, nameOrId)
  const data = parseJson(deps.keyring.open(row.sealed, placeOf(row.name)).toString())
  if (!isJsonObject(data)) throw new CpError('corrupt', `credential ${row.name} holds no map; store it again`)
  deps.onRead(row.name, executionId)
  return { credential: toCredential(row), data }
}

export async function removeCredential(databases: Databases, name: string): Promise<void> {
  if (!(await deleteCredential(databases.cluster.db, name))) throw noSuchCredential(name)
}

/** Seals everything with the newest key, so that older ones can be taken away. Answers how many were sealed anew. */
export async function rekeyCredentials(deps: Pick<CredentialsDeps, 'databases' | 'keyring'>): Promise<number> {
  const { databases, keyring } = deps
  let resealed = 0
  for (const { id, name } of await everyCredential(databases)) {
    const row = await getCredential(databases.cluster.db, name)
    if (row === undefined || keyIdOf(row.sealed) === keyring.sealingKeyId) continue
    const sealed = keyring.seal(keyring.open(row.sealed, placeOf(name)), placeOf(name))
    if (await resealCredential(databases.cluster.db, id, row.sealed, sealed)) resealed += 1
  }
  return resealed
}

async function find(databases: Databases, nameOrId: string): Promise<SealedCredentialRow> {
  const row = await getCredential(databases.cluster.db, nameOrId)
  if (row === undefined) throw noSuchCredential(nameOrId)
  return row
}

function toCredential(row: CredentialRow): Credential {
  const { credential_id: id, name, type, meta, tags, description } = row
  const createdAt = wireTimeFromPostgres(row.created_at, 'created_at')
  return {
    id,
    name,
    type,
    meta,
    tags,
    description,
    createdAt,
    updatedAt: wireTimeFromPostgres(row.updated_at, 'updated_at'),
  }
}

function noSuchCredential(name: string): CpError {
  return new CpError('not_found', `there is no credential ${name}; see "noetl-cp credential list"`)
}

/** A sealed text that was copied to another name does not open there. */
function placeOf(name: string): string {
  return `credential ${name}`
}

function keyIdOf(sealed: string): string | undefined {
  return sealed.split('.')[1]
}
