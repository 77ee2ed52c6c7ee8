// The two loops that look after the event table: partitions ahead of time, and retention when it is on.
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { createPartitionLoop } from '../services/retention/partitions.js'
import { createRetentionLoop } from '../services/retention/retentionLoop.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

export function eventTableLoops(deps: Deps): Service[] {
  const { config, databases, clock, random } = deps
  const log = componentLog(deps.log, 'partitions')
  const complained = new Map<string, string>()
  const partitions = createPartitionLoop({
    databases,
    clock,
    random,
    ahead: config.partitionsAhead,
    onReport: ({ shard, created, skipped }) => {
      if (created.length > 0) log.info({ shard, created }, 'made partitions of noetl.event')
      const inTheWay = skipped.filter(({ reason }) => reason !== 'covered')
      const complaint = inTheWay.map(({ name, reason }) => `${name}: ${reason}`).join(', ')
      if (complaint !== '' && complaint !== complained.get(shard))
        log.warn({ shard, skipped: inTheWay }, 'partitions could not be made; see "noetl-cp doctor"')
      complained.set(shard, complaint)
    },
    onError: loopErrors(deps, 'partitions'),
  })
  if (config.eventRetentionDays === 0) return [partitions]
  const retention = createRetentionLoop({
    databases,
    clock,
    random,
    olderThanDays: config.eventRetentionDays,
    onReport: ({ shard, cutoff, dropped, kept, defaultEventsDeleted, executionsDeleted }) => {
      componentLog(deps.log, 'retention').info(
        { shard, cutoff, dropped: dropped.map(({ name }) => name), kept, defaultEventsDeleted, executionsDeleted },
        'applied retention',
      )
    },
    onError: loopErrors(deps, 'retention'),
  })
  return [partitions, retention]
}
