// The result store of the daemon: settings and threads.
import { createResultStore, type ResultsDeps } from '../services/results/results.js'
import type { ResultStore } from '../tools/run/resultStore.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'

const MB = 1_048_576

export interface Results {
  /** For routes. */
  api: ResultsDeps
  /** For tools. */
  store: ResultStore
}

export function buildResults(deps: Deps, core: Pick<Core, 'ids'>): Results {
  const { config, databases, keyring, parsers } = deps
  const secretNames = config.redact ? config.redactKeys : null
  const canSeal = keyring.sealingKeyId !== undefined
  const api: ResultsDeps = {
    databases,
    keyring,
    ids: core.ids,
    quotaBytes: config.resultQuotaMb * MB,
    bytesMax: config.resultLimitMb * MB,
    packResult: (body) => parsers.run('packResult', { body, secretNames, canSeal }),
    unpackResult: (data, { isPacked, isShown }) =>
      parsers.run('unpackResult', { data, isPacked, secretNames: isShown ? secretNames : null }),
  }
  return { api, store: createResultStore(api) }
}
