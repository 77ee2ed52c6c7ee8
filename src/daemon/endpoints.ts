// Where the servers are: from the settings in production, from the embedded servers otherwise.
import type { BusSettings } from '../bus/connect.js'
import type { StreamWanted } from '../bus/streams.js'
import type { Config } from '../config/keys.js'
import type { LoadedConfig } from '../config/load.js'
import { COMMAND_SUBJECT_PREFIX } from '../domain/outbox/subject.js'
import { type DatabaseTarget, parseDatabaseTargets } from '../domain/shards/databaseTarget.js'
import { CpError } from '../errors.js'

export interface Endpoints {
  mode: 'embedded' | 'production'
  database: DatabaseTarget
  nats: BusSettings | undefined
  natsMonitorUrl: string | undefined
  /** Of our own nats-server, which has no monitoring address. */
  natsConfigFile: string | undefined
  internalTokens: string[]
  /** Configured ones; with any, every call of the public API needs one. */
  apiTokens: string[]
  /** Made at the first start of an embedded instance, for where a write needs one. */
  ownApiToken: string | undefined
  /** The first seals, every one opens; none in a production installation without the setting. */
  secretKeys: readonly string[]
}

const DATABASE_KEYS = [
  'databaseUrl',
  'shards',
  'postgresHost',
  'postgresPort',
  'postgresUser',
  'postgresPassword',
  'postgresDatabase',
] as const

/** Any database setting leaves the embedded mode; a NATS address alone is a contradiction. */
export function isProduction(loaded: LoadedConfig): boolean {
  const hasDatabase = DATABASE_KEYS.some((key) => loaded.origins[key].source !== 'default')
  if (!hasDatabase && loaded.config.natsUrl !== undefined) {
    throw new CpError(
      'config',
      `${loaded.origins.natsUrl.name} is set but no database is; set NOETL_DATABASE_URL as well, or unset it for the embedded servers`,
    )
  }
  return hasDatabase
}

export function productionEndpoints(config: Config): Endpoints {
  return {
    mode: 'production',
    database: config.databaseUrl === undefined ? targetFromFamily(config) : targetFromUrl(config.databaseUrl),
    nats: config.natsUrl === undefined ? undefined : natsSettings(config, config.natsUrl, config.natsToken),
    natsMonitorUrl: config.natsMonitorUrl,
    natsConfigFile: undefined,
    internalTokens: tokens(config.internalToken, config.internalTokenPrevious),
    apiTokens: tokens(config.apiToken, config.apiTokenPrevious),
    ownApiToken: undefined,
    secretKeys: config.secretKeys ?? [],
  }
}

export interface EmbeddedAddresses {
  databaseUrl: string
  natsUrl: string
  natsToken: string
  natsConfigFile?: string | undefined
  internalToken: string
  /** Absent when a daemon of an older version runs there. */
  apiToken?: string | undefined
}

export function embeddedEndpoints(config: Config, servers: EmbeddedAddresses, ownKeys: readonly string[]): Endpoints {
  return {
    mode: 'embedded',
    database: targetFromUrl(servers.databaseUrl),
    nats: natsSettings(config, servers.natsUrl, servers.natsToken),
    natsMonitorUrl: config.natsMonitorUrl,
    natsConfigFile: servers.natsConfigFile,
    internalTokens: tokens(config.internalToken, config.internalTokenPrevious, servers.internalToken),
    apiTokens: tokens(config.apiToken, config.apiTokenPrevious),
    ownApiToken: servers.apiToken,
    secretKeys: [...(config.secretKeys ?? []), ...ownKeys],
  }
}

export function wantedStream(config: Config): StreamWanted {
  return {
    name: config.streamName,
    subjects: [`${config.subjectPrefix}.>`],
    maxAgeSeconds: config.streamRetentionSeconds,
    duplicateWindowSeconds: config.streamDedupWindowSeconds,
    replicas: config.streamReplicas,
  }
}

/** The stream that tells foreign workers of commands. */
export function wantedCommandStream(config: Config): StreamWanted {
  return {
    name: config.commandStream,
    subjects: [COMMAND_SUBJECT_PREFIX, `${COMMAND_SUBJECT_PREFIX}.>`],
    maxAgeSeconds: 3_600,
    duplicateWindowSeconds: 120,
    replicas: config.streamReplicas,
  }
}

function targetFromUrl(url: string): DatabaseTarget {
  const { targets, problems } = parseDatabaseTargets(url, 'NOETL_DATABASE_URL')
  if (targets[0] === undefined || targets.length > 1) {
    throw new CpError('config', problems[0] ?? 'NOETL_DATABASE_URL must name exactly one database')
  }
  return targets[0]
}

function targetFromFamily(config: Config): DatabaseTarget {
  return {
    host: config.postgresHost ?? 'localhost',
    port: config.postgresPort,
    user: config.postgresUser,
    password: config.postgresPassword ?? '',
    database: config.postgresDatabase,
  }
}

function natsSettings(config: Config, url: string, token: string | undefined): BusSettings {
  return {
    url,
    token,
    user: config.natsUser,
    password: config.natsPassword,
    credentialsPath: config.natsCredentials,
    tlsCaPath: config.natsTlsCa,
    tlsCertPath: config.natsTlsCert,
    tlsKeyPath: config.natsTlsKey,
    name: 'noetl-cp',
  }
}

function tokens(...values: (string | undefined)[]): string[] {
  return [...new Set(values.filter((value) => value !== undefined))]
}
