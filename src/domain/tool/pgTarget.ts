// Where a postgres tool connects to: the fields of a credential, a connection string, or fields beside each other.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { DatabaseTarget, SslMode } from '../shards/databaseTarget.js'
import { textField } from './configFields.js'
import { ToolFailure } from './toolFailure.js'

const SSL_MODES: readonly string[] = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']
const DEFAULT_PORT = 5432

/** Later sources are weaker. */
export function pgTarget(...sources: readonly (JsonValue | undefined)[]): DatabaseTarget {
  const fields: JsonObject = {}
  for (const source of [...sources].reverse()) {
    if (isJsonObject(source)) Object.assign(fields, nonEmpty(source))
    else if (typeof source === 'string' && source !== '') Object.assign(fields, fieldsOfUrl(source))
  }
  const url = textField(fields, 'connection_string', 'dsn', 'url', 'database_url')
  if (url !== undefined && /^postgres(ql)?:\/\//.test(url)) Object.assign(fields, fieldsOfUrl(url))
  const host = textField(fields, 'db_host', 'host', 'hostname')
  const user = textField(fields, 'db_user', 'user', 'username')
  const database = textField(fields, 'db_name', 'db_database', 'database', 'dbname')
  const missing = [
    ['host', host],
    ['user', user],
    ['database', database],
  ].flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (missing.length > 0) {
    throw new ToolFailure('credential', `postgres needs ${missing.join(', ')}: name a credential with auth`)
  }
  const port = Number(textField(fields, 'db_port', 'port') ?? DEFAULT_PORT)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new ToolFailure('credential', 'the port must be a number from 1 to 65535')
  const sslMode = textField(fields, 'sslmode', 'db_sslmode', 'ssl_mode')
  if (sslMode !== undefined && !SSL_MODES.includes(sslMode)) {
    throw new ToolFailure('credential', `sslmode ${sslMode} is none of ${SSL_MODES.join(', ')}`)
  }
  return {
    host: host as string,
    port,
    user: user as string,
    password: textField(fields, 'db_password', 'password') ?? '',
    database: database as string,
    ...(sslMode === undefined || sslMode === 'allow' ? {} : { sslMode: sslMode as SslMode }),
  }
}

function nonEmpty(source: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== null && value !== ''))
}

/** Names that are the strongest of their kind, so that the address wins as a whole. */
function fieldsOfUrl(text: string): JsonObject {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new ToolFailure('credential', 'the connection string is not an address such as postgres://user@host/database')
  }
  const fields: Record<string, string> = {
    db_host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    db_port: url.port,
    db_user: decodeURIComponent(url.username),
    db_password: decodeURIComponent(url.password),
    db_name: decodeURIComponent(url.pathname.slice(1)),
    sslmode: url.searchParams.get('sslmode') ?? '',
  }
  return nonEmpty(fields)
}
