// The loop that stores what others publish: its consumer on the stream, and its metrics.
import type { Bus } from '../bus/connect.js'
import type { PollLoop } from '../runtime/loop.js'
import type { ProjectorDeps } from '../services/projector/projector.js'
import { createProjectorLoop } from '../services/projector/projectorLoop.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

const ACK_WAIT_MS = 30_000
const PENDING_MAX = 2_000

export function buildProjectorLoop(deps: Deps, bus: Bus, clusterId: string, projector: ProjectorDeps): PollLoop {
  const { config, metrics, random } = deps
  return createProjectorLoop({
    ...projector,
    bus,
    random,
    clusterId,
    puller: {
      stream: config.streamName,
      // Two installations on one stream must each see everything.
      durable: config.projectorConsumer ?? `noetl-cp-projector-${clusterId}`,
      ackWaitMs: ACK_WAIT_MS,
      maxAckPending: PENDING_MAX,
      deliver: 'all',
    },
    onPass: (result, skipped) => {
      metrics.inc('noetl_cp_events_appended_total', { outcome: 'stored', source: 'projector' }, result.projected)
      metrics.inc('noetl_cp_events_appended_total', { outcome: 'duplicate', source: 'projector' }, result.duplicates)
      metrics.inc('noetl_cp_projector_skipped_total', {}, skipped)
    },
    onError: loopErrors(deps, 'projector'),
  })
}
