// Settings → the facts from which the protection of the API follows.
import type { Config } from '../config/keys.js'
import type { ApiFacts } from '../domain/apiProtection.js'
import { isLoopbackName } from '../domain/loopback.js'

export function apiFacts(config: Config, hasCredentials: boolean): ApiFacts {
  return {
    hasApiToken: config.apiToken !== undefined,
    allowOpenApi: config.allowOpenApi,
    isLocal: isLoopbackName(config.httpHost),
    workerAllow: config.workerAllow,
    hasCredentials,
  }
}
