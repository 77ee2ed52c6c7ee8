// The built-in worker: in the daemon, or alone in a process of its own.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import type { Commands, HeldCommand } from '../services/commands/commands.js'
import { createAnnouncement } from '../services/worker/announcement.js'
import { createLargeAnswers } from '../services/worker/largeAnswers.js'
import { createWorker, type Seen } from '../services/worker/worker.js'
import type { Children } from '../tools/run/children.js'
import type { ResultStore } from '../tools/run/resultStore.js'
import { VERSION } from '../version.js'
import type { Core } from './core.js'
import { credentialsDeps } from './credentials.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'
import { buildWorkerTools, type WorkerSurroundings } from './workerTools.js'

export interface WorkerParts {
  commands: Commands
  results: ResultStore
  children: Children
  around: Pick<WorkerSurroundings, 'environment' | 'dataDir' | 'workFolder' | 'listening'>
  /** Output and retries as they happen; for the run that started this instance. */
  onLook?: ((command: HeldCommand, seen: Seen) => void) | undefined
}

/** The announcement first: it ends last, when nothing runs any more. */
export function buildWorker(deps: Deps, core: Core, parts: WorkerParts): { workerId: string; services: Service[] } {
  const { config, metrics, clock } = deps
  const { commands, results, children } = parts
  const host = config.hostName ?? hostname()
  const workerId = `noetl-cp-${host}-${process.pid}-${randomBytes(3).toString('hex')}`
  const onError = loopErrors(deps, 'worker')
  const tools = buildWorkerTools(deps, { ...parts.around, credentials: credentialsDeps(deps), results, children })
  const announcement = createAnnouncement(
    {
      workerId,
      pools: config.workerPools,
      slots: config.workerSlots,
      runtime: { type: 'noetl-cp', version: VERSION, hostname: host, pid: process.pid },
    },
    { databases: deps.databases, ids: core.ids, clock, kinds: tools.kinds, onError },
  )
  const worker = createWorker(
    { workerId, pools: config.workerPools, slots: config.workerSlots },
    {
      clock,
      commands,
      tools,
      onError,
      wanted: announcement.wanted,
      shorten: createLargeAnswers(results),
      ...(parts.onLook === undefined ? {} : { onLook: parts.onLook }),
      onDone: (kind, outcome, seconds) => {
        metrics.inc('noetl_cp_tool_runs_total', { kind, outcome })
        metrics.observe('noetl_cp_tool_seconds', seconds, { kind })
      },
    },
  )
  core.appender.onAppended((_shard, _grown, _traces, ended) => worker.ended(ended))
  metrics.onCollect(() => {
    const { slots, busy, held } = worker.stats()
    metrics.set('noetl_cp_worker_slots', slots)
    metrics.set('noetl_cp_worker_slots_busy', busy)
    metrics.set('noetl_cp_worker_commands_held', held)
  })
  componentLog(deps.log, 'worker').debug({ workerId, kinds: tools.kinds() }, 'the worker takes commands')
  return { workerId, services: [announcement, worker] }
}
