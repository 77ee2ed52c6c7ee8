// Reads the list of databases an installation is spread over (NOETL_SHARDS, NOETL_CLUSTER_DSN). Two
// spellings: `host=..;user=..` pairs separated by commas as in the NoETL server, and postgres:// URLs separated
// by commas or spaces. Everything wrong is reported at once. Messages name the position, the key or the
// host, and never a value that may be a password.

const DEFAULT_PORT = 5432
const DEFAULT_DATABASE = 'noetl'
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

const PAIR_KEYS = ['host', 'port', 'user', 'password', 'database', 'sslmode']

export type SslMode = (typeof SSL_MODES)[number]

export interface DatabaseTarget {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Absent: the setting for all databases decides. */
  readonly sslMode?: SslMode
}

export interface DatabaseTargets {
  targets: DatabaseTarget[]
  problems: string[]
}

/** Empty items and trailing separators are tolerated. Whether an empty list is fine is the caller's business. */
export function parseDatabaseTargets(text: string, setting: string): DatabaseTargets {
  const targets: DatabaseTarget[] = []
  const problems: string[] = []
  let position = 0
  for (const item of splitItems(text)) {
    position += 1
    const itemProblems: string[] = []
    const target = isUrl(item) ? parseUrl(item, itemProblems) : parsePairs(item, itemProblems)
    if (target !== undefined && itemProblems.length === 0) {
      const earlier = targets.findIndex((other) => identity(other) === identity(target))
      if (earlier < 0) targets.push(target)
      else itemProblems.push(`is the same database as an earlier item (${describeTarget(target)})`)
    }
    for (const problem of itemProblems) problems.push(`${setting} item ${position}: ${problem}`)
  }
  return { targets, problems }
}

/** Safe to log: everything but the credentials. */
export function describeTarget(target: DatabaseTarget): string {
  return `${target.host}:${target.port}/${target.database}`
}

function identity(target: DatabaseTarget): string {
  return `${target.host.toLowerCase()} ${target.port} ${target.database}`
}

function splitItems(text: string): string[] {
  return text
    .split(',')
    .flatMap((item) => (isUrl(item) ? item.trim().split(/\s+/) : [item]))
    .filter((item) => item.replaceAll(';', '').trim() !== '')
}

function isUrl(item: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(item)
}

function parsePairs(item: string, problems: string[]): DatabaseTarget | undefined {
  const found = new Map<string, string>()
  for (const pair of item.split(';')) {
    if (pair.trim() === '') continue
    const equals = pair.indexOf('=')
    if (equals < 0) {
      // The text itself may be the second half of a password with a separator in it.
      problems.push('has a part without "="; write ; as %3B, a comma as %2C and % as %25 inside a password')
      continue
    }
    const written = pair.slice(0, equals).trim().toLowerCase()
    const key = written === 'dbname' ? 'database' : written
    if (!PAIR_KEYS.includes(key)) {
      problems.push(`has an unknown key; known are ${PAIR_KEYS.join(', ')} (or dbname)`)
    } else if (found.has(key)) {
      problems.push(`names ${key} twice`)
    } else {
      found.set(key, pair.slice(equals + 1))
    }
  }
  return buildTarget(
    {
      host: found.get('host'),
      user: found.get('user'),
      port: found.get('port'),
      database: found.get('database'),
      password: unescapeSeparators(found.get('password') ?? ''),
      sslMode: found.get('sslmode')?.trim(),
    },
    problems,
  )
}

/** Only the three escapes the pair form needs, so that other passwords with a percent sign keep their meaning. */
function unescapeSeparators(password: string): string {
  return password.replace(/%(2c|3b|25)/gi, (encoded) => decodeURIComponent(encoded))
}

function parseUrl(item: string, problems: string[]): DatabaseTarget | undefined {
  let url: URL
  try {
    url = new URL(item)
  } catch {
    problems.push('is not a readable URL; percent-encode special characters in user and password')
    return undefined
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    problems.push('is a URL of another kind; it must start with postgres:// or postgresql://')
    return undefined
  }
  for (const key of url.searchParams.keys()) {
    if (key !== 'sslmode') problems.push('has an unknown URL parameter; only sslmode is known')
  }
  if (url.hash !== '') problems.push('contains "#"; percent-encode it as %23')
  return buildTarget(
    {
      host: decode(url.hostname.replace(/^\[(.*)\]$/, '$1'), 'host', problems),
      port: url.port === '' ? undefined : url.port,
      user: decode(url.username, 'user', problems),
      password: decode(url.password, 'password', problems),
      database: decode(url.pathname.replace(/^\//, ''), 'database', problems) || undefined,
      sslMode: url.searchParams.getAll('sslmode').at(-1),
    },
    problems,
  )
}

function decode(text: string, part: string, problems: string[]): string {
  try {
    return decodeURIComponent(text)
  } catch {
    problems.push(`has a broken percent-encoding in its ${part}`)
    return text
  }
}

interface RawTarget {
  host: string | undefined
  port: string | undefined
  user: string | undefined
  password: string
  database: string | undefined
  sslMode: string | undefined
}

function buildTarget(raw: RawTarget, problems: string[]): DatabaseTarget | undefined {
  const { host, user, port = String(DEFAULT_PORT), database = DEFAULT_DATABASE, password, sslMode } = raw
  if (host === undefined || host.trim() === '') problems.push('has no host')
  if (user === undefined || user === '') problems.push('has no user')
  if (database === '') problems.push('has an empty database name')
  const portNumber = /^[0-9]{1,5}$/.test(port) ? Number(port) : 0
  if (portNumber < 1 || portNumber > 65_535) problems.push('has an invalid port; it must be from 1 to 65535')
  if (sslMode !== undefined && !isSslMode(sslMode))
    problems.push(`has an unknown sslmode; known are ${SSL_MODES.join(', ')}`)
  if (host === undefined || user === undefined) return undefined
  const wanted = sslMode !== undefined && isSslMode(sslMode) ? { sslMode } : {}
  return Object.freeze({ host, port: portNumber, user, password, database, ...wanted })
}

function isSslMode(text: string): text is SslMode {
  return (SSL_MODES as readonly string[]).includes(text)
}
