// Credentials as they are stored: what they are called in the open, their values sealed.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'

const q = queries(
  'credential_any',
  'credential_put',
  'credential_list',
  'credential_get',
  'credential_delete',
  'credential_reseal',
)

export interface CredentialRow {
  credential_id: string
  name: string
  type: string
  meta: JsonValue
  tags: string[]
  description: string | null
  created_at: string
  updated_at: string
}

export interface SealedCredentialRow extends CredentialRow {
  sealed: string
}

export interface NewCredential {
  credentialId: string
  name: string
  type: string
  sealed: string
  meta: JsonValue | undefined
  tags: readonly string[]
  description: string | null
}

export async function holdsCredentials(db: Queryable): Promise<boolean> {
  const [row] = await db.run<{ found: boolean }>(q.credential_any)
  return row?.found === true
}

export async function putCredential(db: Queryable, it: NewCredential): Promise<CredentialRow> {
  const meta = it.meta === undefined ? null : writeJson(it.meta)
  const values = [it.credentialId, it.name, it.type, it.sealed, meta, writeJson([...it.tags]), it.description]
  const [row] = await db.run<CredentialRow>(q.credential_put, values)
  return row!
}

export function listCredentials(
  db: Queryable,
  type: string | undefined,
  after: string,
  limit: number,
): Promise<CredentialRow[]> {
  return db.run<CredentialRow>(q.credential_list, [type ?? null, after, limit])
}

export async function getCredential(db: Queryable, nameOrId: string): Promise<SealedCredentialRow | undefined> {
  const [row] = await db.run<SealedCredentialRow>(q.credential_get, [nameOrId])
  return row
}

export async function deleteCredential(db: Queryable, name: string): Promise<boolean> {
  return (await db.run(q.credential_delete, [name])).count > 0
}

/** False: it was stored again meanwhile, with the newer key. */
export async function resealCredential(db: Queryable, id: string, before: string, after: string): Promise<boolean> {
  return (await db.run(q.credential_reseal, [id, before, after])).count > 0
}
