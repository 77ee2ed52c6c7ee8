// What `serve` tells the person who started it: what runs, where, where the data lives, how it is protected.
import { maskAddress } from '../config/masked.js'
import type { ApiProtection } from '../domain/access/apiProtection.js'
import { describeTarget } from '../domain/shards/databaseTarget.js'
import { VERSION } from '../version.js'
import type { Deps } from './deps.js'

export interface BannerFacts {
  httpUrl: string
  embedded: { dataDir: string; postgres: string; postgresPid: number; natsPid: number } | undefined
  protection: ApiProtection
  startedInMs: number
  /** How to run one of our commands in another terminal. */
  commandLine(command: string): string
}

export function banner(deps: Deps, facts: BannerFacts): string {
  const { config, endpoints, databases } = deps
  const rows: [string, string][] = [['API', `${facts.httpUrl}  (${protection(deps, facts)})`]]
  if (config.consoleMode !== 'off') rows.push(['Console', `${facts.httpUrl}/console/  (${consoleHint(deps, facts)})`])
  const pid = (value: number | undefined) => (value === undefined ? '' : `  (embedded, pid ${value})`)
  if (databases.topology.singleDatabase) {
    rows.push(['Postgres', `${describeTarget(endpoints.database)}${pid(facts.embedded?.postgresPid)}`])
  } else {
    rows.push([
      'Postgres',
      `${databases.shards.length} shards, cluster tables on ${describeTarget(databases.topology.cluster)}`,
    ])
  }
  rows.push([
    'NATS',
    endpoints.nats === undefined
      ? 'not configured: outbox rows wait (NOETL_NATS_URL)'
      : `${maskAddress(endpoints.nats.url)}${pid(facts.embedded?.natsPid)}`,
  ])
  if (facts.embedded !== undefined) {
    rows.push(['Data', facts.embedded.dataDir])
    if (!facts.embedded.postgres.startsWith(facts.embedded.dataDir))
      rows.push(['', `${facts.embedded.postgres}  (Postgres: its user cannot enter the data folder)`])
  }
  rows.push(['Internal', internalLine(deps, facts)])
  const tls = config.tlsCert === undefined ? '' : ' with TLS'
  const lines = rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`)
  return [
    `noetl-cp ${VERSION} is ready${tls} (${(facts.startedInMs / 1000).toFixed(1)} s)`,
    ...lines,
    '',
    `  In another terminal: ${facts.commandLine('status')}`,
    '  Ctrl-C stops everything.',
    '',
  ].join('\n')
}

function consoleHint({ config, endpoints }: Deps, { commandLine }: BannerFacts): string {
  if (config.consoleMode === 'read-only') return 'read-only'
  if (endpoints.internalTokens.length === 0) return 'log in with a token'
  return `opened by ${commandLine('console')}`
}

function protection({ config, endpoints }: Deps, facts: BannerFacts): string {
  switch (facts.protection) {
    case 'token':
      return 'token needed'
    case 'writes_token':
      return endpoints.ownApiToken === undefined && config.internalToken === undefined
        ? 'reads open on this machine only, writes refused until NOETL_API_TOKEN is set'
        : 'reads open on this machine only, writes need the token'
    case 'local':
      return 'open on this machine only'
    case 'open':
      return 'OPEN to everybody who can reach it'
  }
}

function internalLine({ endpoints }: Deps, facts: BannerFacts): string {
  if (endpoints.internalTokens.length === 0)
    return 'routes under /api/internal answer 503 until NOETL_INTERNAL_API_TOKEN is set'
  if (facts.embedded === undefined) return '/api/internal needs the token'
  return `/api/internal needs the token in ${facts.embedded.dataDir}/secrets.json`
}
