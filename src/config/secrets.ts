// Secrets that catalog entries name by an alias: the environment variable NOETL_SECRET_<ALIAS>, or a file of that
// name in NOETL_SECRETS_DIR. Looked up each time, so that a rotated file counts at once; never logged or kept.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CpError, messageOf } from '../errors.js'

export type SecretLookup = (alias: string) => string

export function secretLookup(
  env: Readonly<Record<string, string | undefined>>,
  folder: string | undefined,
): SecretLookup {
  return (alias) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(alias)) {
      throw new CpError('config', 'a secret alias must be one word of letters, digits, dots, dashes and underscores')
    }
    const name = `NOETL_SECRET_${alias.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
    const value = env[name] ?? readSecretFile(folder, alias)
    if (value !== undefined && value.trim() !== '') return value.replace(/(?<![\r\n])[\r\n]+$/, '')
    throw new CpError(
      'config',
      `the secret ${alias} is not there; set ${name}, or put a file ${alias} into NOETL_SECRETS_DIR`,
    )
  }
}

function readSecretFile(folder: string | undefined, alias: string): string | undefined {
  if (folder === undefined) return undefined
  try {
    return readFileSync(join(folder, alias), 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw new CpError('config', `the secret ${alias} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}
