// Which installation a subcommand talks to: the one of --url, the configured one, or the daemon that runs in the data folder.
import type { LoadedConfig } from '../config/load.js'
import { type Endpoints, embeddedEndpoints, isProduction, productionEndpoints } from '../daemon/endpoints.js'
import { readRuntimeFile } from '../embedded/runtimeFile.js'
import { readSecretKeys } from '../embedded/secretKey.js'
import { CpError } from '../errors.js'

export interface Instance {
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
  if (config.remoteUrl !== undefined) {
    return {
      endpoints: productionEndpoints(config),
      token: config.remoteToken,
      httpUrl: config.remoteUrl,
      pid: undefined,
      startedAt: undefined,
      version: undefined,
    }
  }
  if (isProduction(loaded)) {
    const host = config.httpHost === '0.0.0.0' || config.httpHost === '::' ? '127.0.0.1' : config.httpHost
    return {
      endpoints: productionEndpoints(config),
      token: config.apiToken ?? config.internalToken,
      httpUrl: `${config.tlsCert === undefined ? 'http' : 'https'}://${host}:${config.httpPort}`,
      pid: undefined,
      startedAt: undefined,
      version: undefined,
    }
  }
  const running = await readRuntimeFile(dataDir)
  if (running === undefined) {
    throw new CpError(
      'unavailable',
      `no daemon is running in ${dataDir} and no database is configured.\nStart one with "noetl-cp serve", name another folder with --data-dir, or set NOETL_DATABASE_URL.`,
    )
  }
  return {
    endpoints: embeddedEndpoints(config, running, await readSecretKeys(dataDir)),
    httpUrl: running.httpUrl,
    token: config.apiToken ?? running.apiToken,
    pid: running.pid,
    startedAt: running.startedAt,
    version: running.version,
  }
}
