// Replay as the daemon and the subcommands use it: settings, metrics, and the loop that stores seeds.
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import type { ReplayDeps } from '../services/replay/replay.js'
import { createSeedLoop } from '../services/replay/seeds.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'
import { fetchSettings } from './payloadFetch.js'

const MB = 1_048_576
const PAYLOADS_TOGETHER = 8

export function replayDeps({ databases, workers, config, endpoints, metrics }: Deps): ReplayDeps {
  const payloadBytes = config.replayPayloadLimitMb * MB
  return {
    databases,
    workers,
    timeoutMs: config.replayTimeoutMs,
    secretNames: config.redact ? config.redactKeys : null,
    payloads: {
      secretKeys: endpoints.secretKeys,
      secretNames: config.redactKeys,
      fetch: { ...fetchSettings(config), bytesMax: payloadBytes },
      bytesMax: PAYLOADS_TOGETHER * payloadBytes,
      timeoutMs: config.replayPayloadTimeoutMs,
    },
    onReplay: (kind, seconds, events) => {
      metrics.observe('noetl_cp_replay_seconds', seconds, { kind })
      metrics.inc('noetl_cp_replay_events_total', {}, events)
    },
    onSeed: (outcome) => metrics.inc('noetl_cp_replay_seeds_total', { outcome }),
  }
}

export function replayLoops(deps: Deps): Service[] {
  if (deps.config.replaySnapshotEvents === 0) return []
  const log = componentLog(deps.log, 'replay')
  return [
    createSeedLoop({
      ...replayDeps(deps),
      clock: deps.clock,
      random: deps.random,
      eventsMin: deps.config.replaySnapshotEvents,
      onTaken: ({ executionId, version, eventCount, storedBytes, stored }) => {
        if (!stored) return
        deps.metrics.inc('noetl_cp_replay_seeds_stored_total')
        log.info({ executionId, version, eventCount, storedBytes }, 'stored a snapshot to replay from')
      },
      onError: loopErrors(deps, 'replay-seeds'),
    }),
  ]
}
