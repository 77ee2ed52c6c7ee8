// The loops that look after the outbox, and what they tell the metrics.
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { createOutboxCounter, createOutboxUpkeep, type OutboxCounts } from '../services/outbox/upkeep.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

export function outboxLoops(deps: Deps): Service[] {
  const { config, metrics, databases, clock, random } = deps
  const log = componentLog(deps.log, 'outbox')
  return [
    createOutboxUpkeep({
      databases,
      clock,
      random,
      retentionSeconds: config.outboxRetentionSeconds,
      onPurged: (shard, rows) => {
        metrics.inc('noetl_cp_outbox_purged_total', {}, rows)
        log.debug({ shard, rows }, 'removed published rows after their window')
      },
      onError: loopErrors(deps, 'outbox upkeep'),
    }),
    createOutboxCounter({
      databases,
      clock,
      random,
      onCounts: (shard, counts) => observe(deps, String(shard), counts),
      onError: loopErrors(deps, 'outbox counter'),
    }),
  ]
}

function observe({ metrics }: Deps, shard: string, counts: OutboxCounts): void {
  const set = (status: string, rows: number): void => metrics.set('noetl_cp_outbox_rows', rows, { shard, status })
  set('PENDING', counts.pending_ready + counts.pending_waiting)
  set('FAILED', counts.failed_ready + counts.failed_waiting)
  set('IN_FLIGHT', counts.in_flight_live)
  set('EXPIRED', counts.in_flight_expired)
  set('DEAD', counts.dead)
  metrics.set('noetl_cp_outbox_oldest_age_seconds', counts.oldestAgeSeconds, { shard })
}
