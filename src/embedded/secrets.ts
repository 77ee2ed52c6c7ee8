// The secrets of an embedded instance, made at its first start and kept in the data folder with
// mode 0600. They are never logged, never passed as arguments, and never replaced while the file exists.

import { randomBytes } from 'node:crypto'
import { CpError } from '../errors.js'
import { createFile, readPrivate, replaceFile } from './atomicFile.js'

export interface Secrets {
  postgresPassword: string
  natsToken: string
  internalToken: string
  /** For writes, once code can be started or a credential is stored. */
  apiToken: string
}

const SECRET_BYTES = 32
const SECRET_PATTERN = /^[A-Za-z0-9_-]{20,}$/

/** `created` tells that the file was new: a cluster from before does not know this password yet. */
export async function loadSecrets(path: string): Promise<{ secrets: Secrets; created: boolean }> {
  const fresh: Secrets = {
    postgresPassword: newSecret(),
    natsToken: newSecret(),
    internalToken: newSecret(),
    apiToken: newSecret(),
  }
  const created = await createFile(path, `${JSON.stringify(fresh, null, 2)}\n`)
  if (created) return { secrets: fresh, created }
  return { secrets: await completed((await readPrivate(path)) ?? '', path), created }
}

/** Adds what an older version did not make. The caller holds the lock of the data folder. */
async function completed(text: string, path: string): Promise<Secrets> {
  const fields = parseFields(text, path)
  if (fields['apiToken'] !== undefined) return checked(fields, path)
  const secrets = checked({ ...fields, apiToken: newSecret() }, path)
  await replaceFile(path, `${JSON.stringify({ ...fields, ...secrets }, null, 2)}\n`)
  return secrets
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

function parseFields(text: string, path: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw damaged(path, 'it is not JSON', error)
  }
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function checked(fields: Record<string, unknown>, path: string): Secrets {
  const take = (name: keyof Secrets): string => {
    const secret = fields[name]
    if (typeof secret !== 'string' || !SECRET_PATTERN.test(secret))
      throw damaged(path, `${name} is missing or malformed`)
    return secret
  }
  return {
    postgresPassword: take('postgresPassword'),
    natsToken: take('natsToken'),
    internalToken: take('internalToken'),
    apiToken: take('apiToken'),
  }
}

function damaged(path: string, why: string, cause?: unknown): CpError {
  return new CpError('corrupt', `${path} cannot be used: ${why}. Restore it, or remove it and new secrets are made`, {
    cause,
  })
}
