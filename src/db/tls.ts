// sslmode → what the driver is told. `prefer` is treated as `disable`: silently dropping encryption
// because a stranger answered "no" helps nobody.
import { readFileSync } from 'node:fs'
import type { DatabaseTarget } from '../domain/databaseTarget.js'
import { CpError, messageOf } from '../errors.js'

export type TlsOptions = false | { rejectUnauthorized: boolean; servername?: string; ca?: string }

export function tlsOptions(target: DatabaseTarget, caPath: string | undefined): TlsOptions {
  switch (target.sslMode ?? 'disable') {
    case 'disable':
    case 'prefer':
      return false
    case 'require':
      return { rejectUnauthorized: false }
    default:
      return {
        rejectUnauthorized: true,
        servername: target.host,
        ...(caPath === undefined ? {} : { ca: readCa(caPath) }),
      }
  }
}

function readCa(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CpError('config', `NOETL_CP_PG_TLS_CA: cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
}
