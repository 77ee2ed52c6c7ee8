// Settings → the facts from which the protection of the API follows.
import type { Config } from '../config/keys.js'
import type { ApiFacts } from '../domain/access/apiProtection.js'
import { isLoopbackName } from '../domain/access/loopback.js'

export function apiFacts(config: Config, hasCredentials: boolean): ApiFacts {
  return {
    hasApiToken: config.apiToken !== undefined,
    allowOpenApi: config.allowOpenApi,
    isLocal: isLoopbackName(config.httpHost),
    workerAllow: config.workerAllow,
    hasCredentials,
  }
}
