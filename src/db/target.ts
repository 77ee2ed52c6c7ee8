// Where a database is: parsed once from a URL or from single settings, so that nobody below reads URLs.
import { readFileSync } from 'node:fs'
import { CpError, messageOf } from '../errors.js'

export interface DatabaseTarget {
  host: string
  port: number
  user: string
  password: string
  database: string
  tls: TlsSetting
}

/** Off, encrypted without verifying the server, or encrypted and verified. */
export type TlsSetting = false | { rejectUnauthorized: boolean; servername?: string; ca?: string }

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

export function targetFromUrl(url: string): DatabaseTarget {
  const parsed = new URL(url)
  const host = decodeURIComponent(parsed.searchParams.get('host') ?? parsed.hostname.replace(/^\[|\]$/g, ''))
  return {
    host: host === '' ? 'localhost' : host,
    port: parsed.port === '' ? 5432 : Number(parsed.port),
    user: decodeURIComponent(parsed.username) || 'noetl',
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)) || 'noetl',
    tls: tlsFromMode(parsed.searchParams.get('sslmode') ?? 'disable', parsed.searchParams.get('sslrootcert'), host),
  }
}

function tlsFromMode(mode: string, rootCert: string | null, host: string): TlsSetting {
  if (!SSL_MODES.includes(mode)) {
    throw new CpError('config', `sslmode=${mode} is not known; use one of ${SSL_MODES.join(', ')}`)
  }
  if (mode === 'disable' || mode === 'prefer') return false
  if (mode === 'require') return { rejectUnauthorized: false }
  try {
    return {
      rejectUnauthorized: true,
      servername: host,
      ...(rootCert === null ? {} : { ca: readFileSync(rootCert, 'utf8') }),
    }
  } catch (error) {
    throw new CpError('config', `sslrootcert ${rootCert} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** A name for people and metrics; never the password. */
export function describeTarget(target: DatabaseTarget): string {
  return `${target.user}@${target.host}:${target.port}/${target.database}`
}

export function targetToUrl(target: DatabaseTarget): string {
  const user = encodeURIComponent(target.user)
  const password = encodeURIComponent(target.password)
  return `postgres://${user}:${password}@${target.host}:${target.port}/${encodeURIComponent(target.database)}`
}
