// The built-in worker in a process of its own, beside any number of daemons: it takes commands from the database and writes
// its answers there. Until it is told to stop; then what runs may end, and the rest is given back.
import type { Config } from '../config/keys.js'
import type { Log } from '../runtime/log.js'
import { type Service, startAll, stopAll } from '../runtime/service.js'
import type { Shutdown } from '../runtime/shutdown.js'
import { createHints } from '../services/state/hints.js'
import { buildChildren } from './children.js'
import { buildCommands } from './commands.js'
import { buildCore } from './core.js'
import { openDeps } from './deps.js'
import type { Endpoints } from './endpoints.js'
import { loopErrors } from './loopErrors.js'
import { buildResults } from './results.js'
import { buildStates } from './states.js'
import { buildWorker } from './worker.js'

export interface WorkerAloneOptions {
  config: Config
  endpoints: Endpoints
  environment: Readonly<Record<string, string | undefined>>
  dataDir: string
  log: Log
  shutdown: Shutdown
  onReady(workerId: string): void
}

const STOP_SHARE = 0.85
const CLOSE_MS = 2_000

/** Answers the exit code. */
export async function runWorkerAlone(options: WorkerAloneOptions): Promise<number> {
  const { config, endpoints, log, shutdown } = options
  const deps = openDeps({ config, endpoints, log, applicationName: 'noetl-cp worker', isDaemon: true })
  const core = buildCore(deps, 'daemon')
  const hints = createHints({ databases: deps.databases, onError: loopErrors(deps, 'state hints') })
  core.appender.onAppended((shard, executionIds) => {
    for (const id of executionIds) hints.add(shard, id)
  })
  const states = buildStates(deps, undefined)
  const commands = buildCommands(deps, core)
  const results = buildResults(deps, core).store
  const children = buildChildren(deps, core, states.threads, results)
  const { services, workerId } = buildWorker(deps, core, {
    commands,
    results,
    children: children.pipelines(),
    around: {
      environment: options.environment,
      dataDir: options.dataDir,
      workFolder: process.cwd(),
      listening: () => undefined,
    },
  })
  const all: Service[] = [core.ids, ...states.services, commands, ...services]
  try {
    await startAll(all, config.shutdownTimeoutMs)
    options.onReady(workerId)
    await Promise.race([untilAborted(shutdown.signal), shutdown.forced])
    const stopped = stopAll(all, config.shutdownTimeoutMs * STOP_SHARE).then((errors) => {
      for (const error of errors) log.error({ err: error }, 'a part of the worker did not stop cleanly')
      return 0
    })
    const code = await Promise.race([stopped, shutdown.forced])
    await hints.flush()
    return code
  } finally {
    await deps.close(CLOSE_MS)
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
