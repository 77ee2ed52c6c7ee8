// What happens when executions fail, in the daemon.
import { readFailureHook } from '../domain/failures/failureHook.js'
import { CpError } from '../errors.js'
import { createFailureHooks, type FailureHooks, type FailureHooksDeps } from '../services/failures/failureHooks.js'
import { AddressGuard } from '../tools/http/addressGuard.js'
import { createHttpClient } from '../tools/http/httpClient.js'
import { sendHttp } from '../tools/http/httpTool.js'
import { VERSION } from '../version.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'
import { ownEndpoints } from './workerTools.js'

const CALL_MS = 10_000

export function buildFailureHooks(
  deps: Deps,
  writing: Omit<FailureHooksDeps, 'keyring' | 'random' | 'fallback' | 'call' | 'onError'>,
  listening: () => { host: string; port: number } | undefined,
): FailureHooks[] {
  const { config, random, keyring, clock, metrics } = deps
  const guard = new AddressGuard({
    forbidden: () => ownEndpoints(deps, listening()),
    allowed: config.workerHttpAllow,
    denyPrivate: config.workerHttpDenyPrivate,
  })
  const client = createHttpClient(guard, `noetl-cp/${VERSION}`)
  const hooks: FailureHooksDeps = {
    ...writing,
    random,
    keyring,
    fallback: config.onFailure === undefined ? undefined : readFailureHook(config.onFailure, 'NOETL_CP_ON_FAILURE'),
    call: async (url, headers, json) => {
      try {
        const request = { method: 'POST', url, headers, json, follow_redirects: false }
        await sendHttp(client, clock, request, undefined, AbortSignal.timeout(CALL_MS))
      } catch (error) {
        throw new CpError(
          'unavailable',
          `${new URL(url).origin} was not told of a failure: ${(error as Error).message}`,
          {
            cause: error,
          },
        )
      }
    },
    onSettled: (outcome) => metrics.inc('noetl_cp_failure_hooks_total', { outcome }),
    onError: loopErrors(deps, 'failure hooks'),
  }
  return deps.databases.shards.map((shard) => createFailureHooks(hooks, shard))
}
