// Which installation a subcommand talks to: the one of --url, the configured one, the daemon at the address that --host and
// --port name, or the one that runs in the data folder.
import type { Config } from '../config/keys.js'
import type { LoadedConfig } from '../config/load.js'
import { type Endpoints, embeddedEndpoints, isProduction, productionEndpoints } from '../daemon/endpoints.js'
import { readRuntimeFile } from '../embedded/runtimeFile.js'
import { readSecretKeys } from '../embedded/secretKey.js'
import { CpError } from '../errors.js'

export interface Instance {
  /** What is known of it: its servers, or no more than the address of its daemon. */
  reachedBy: 'servers' | 'http'
  endpoints: Endpoints
  /** The daemon's address, as far as it can be known from here. */
  httpUrl: string
  /** What our own calls of the API present; undefined where there is none. */
  token: string | undefined
  /** Of an embedded instance. */
  pid: number | undefined
  startedAt: string | undefined
  version: string | undefined
}

export async function findInstance(loaded: LoadedConfig, dataDir: string): Promise<Instance> {
  const { config } = loaded
  if (config.remoteUrl !== undefined) return overHttp(config, config.remoteUrl)
  const named = `${config.tlsCert === undefined ? 'http' : 'https'}://${reachableHost(config)}:${config.httpPort}`
  if (isProduction(loaded)) return { ...overHttp(config, named), reachedBy: 'servers' }
  const running = await readRuntimeFile(dataDir)
  // Who names an address means the daemon there, not the one of the data folder.
  const isNamed = [loaded.origins.httpHost, loaded.origins.httpPort].some(({ source }) => source === 'flag')
  if (isNamed && running?.httpUrl !== named) return overHttp(config, named)
  if (running === undefined) {
    throw new CpError(
      'unavailable',
      `no daemon is running in ${dataDir} and no database is configured.\nStart one with "noetl-cp serve", name another folder with --data-dir, or set NOETL_DATABASE_URL.`,
    )
  }
  return {
    reachedBy: 'servers',
    endpoints: embeddedEndpoints(config, running, await readSecretKeys(dataDir)),
    httpUrl: running.httpUrl,
    token: config.apiToken ?? running.apiToken,
    pid: running.pid,
    startedAt: running.startedAt,
    version: running.version,
  }
}

function overHttp(config: Config, httpUrl: string): Instance {
  return {
    reachedBy: 'http',
    endpoints: productionEndpoints(config),
    httpUrl,
    token: config.remoteToken ?? config.apiToken ?? config.internalToken,
    pid: undefined,
    startedAt: undefined,
    version: undefined,
  }
}

/** Where a daemon that listens everywhere is found from here. */
function reachableHost({ httpHost }: Config): string {
  if (httpHost === '0.0.0.0' || httpHost === '::') return '127.0.0.1'
  return httpHost.includes(':') ? `[${httpHost}]` : httpHost
}
