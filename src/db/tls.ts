// Turns sslmode into the options of the driver. `prefer` is treated as `disable`: encryption that any server can
// switch off protects nobody.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { DatabaseTarget, SslMode } from '../domain/shards/databaseTarget.js'
import { CpError, messageOf } from '../errors.js'

export type TlsOptions =
  | false
  | {
      rejectUnauthorized: boolean
      servername?: string
      host?: string
      ca?: string
      checkServerIdentity?: () => undefined
    }

export interface TlsDefaults {
  caPath: string | undefined
  /** For a target that names none itself. */
  sslMode: SslMode
}

export function tlsOptions(target: DatabaseTarget, { caPath, sslMode }: TlsDefaults): TlsOptions {
  switch (target.sslMode ?? sslMode) {
    case 'disable':
    case 'prefer':
      return false
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      // The chain is checked, the name in the certificate is not: that is what verify-full adds.
      return { rejectUnauthorized: true, checkServerIdentity: () => undefined, ...ca(caPath) }
    default:
      return {
        rejectUnauthorized: true,
        // An address is not a name: it is compared with the certificate, but may not be sent as one.
        ...(isIP(target.host) === 0 ? { servername: target.host } : { host: target.host }),
        ...ca(caPath),
      }
  }
}

function ca(path: string | undefined): { ca?: string } {
  return path === undefined ? {} : { ca: readCa(path) }
}

function readCa(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CpError('config', `NOETL_CP_PG_TLS_CA: cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
}
