// One relay per shard, with what wakes them: our own appends at once, those of other processes by a hint,
// everything else by polling. A shard that is down does not slow the others.
import type { Bus } from '../bus/connect.js'
import { createPublisher, type PublishOutcome } from '../bus/publisher.js'
import type { StreamLimits } from '../bus/streams.js'
import { createListener } from '../db/listen.js'
import { LANE_COUNT } from '../domain/leases/lane.js'
import { CpError } from '../errors.js'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { findStored } from '../services/outbox/relay/findStored.js'
import { createRelay, type Relay } from '../services/outbox/relay/relay.js'
import type { RelayHooks, RelayLimits } from '../services/outbox/relay/relayLimits.js'
import type { Allowance } from '../services/outbox/relay/rowAllowance.js'
import { notifyRelays, type OutboxRow } from '../stores/outbox/outboxStore.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

const NOTIFY_MS = 50

export interface Relays {
  relays: Relay[]
  services: Service[]
}

export interface RelayScope {
  clusterId: string
  /** Only this shard. */
  shard?: number | undefined
  /** Our own address, for references to payloads too large for the stream. */
  httpUrl(): string
  stream(): StreamLimits
  /** Whether the stream of commands is there. */
  tellsWorkers?: (() => boolean) | undefined
  /** False for a one-shot drain, which takes free lanes only. */
  share: boolean
  /** At most so many rows in all shards together. */
  allowance?: Allowance | undefined
}

export function buildRelays(deps: Deps, core: Core, bus: Bus, scope: RelayScope): Relays {
  const limits = relayLimits(deps)
  const chosen = deps.databases.shards
    .map((database, shard) => ({ database, shard }))
    .filter(({ shard }) => scope.shard === undefined || shard === scope.shard)
  const relays = chosen.map(({ database, shard }) =>
    createRelay(
      {
        db: database.db,
        bus,
        publisher: createPublisher({ bus, clock: deps.clock, ackTimeoutMs: limits.ackTimeoutMs }),
        clock: deps.clock,
        random: deps.random,
        membership: core.membershipOf(database.db),
        message: {
          clusterId: scope.clusterId,
          subjectOf: (row) => subjectOf(core, row),
          subjectPrefix: deps.config.subjectPrefix,
          publicUrl: () => deps.config.publicUrl ?? scope.httpUrl(),
          tellsWorkers: scope.tellsWorkers ?? (() => false),
        },
        stream: scope.stream,
        findStored: (row) => findStored(bus, deps.config.streamName, row.subject ?? subjectOf(core, row), row),
        hooks: relayHooks(deps, shard),
      },
      limits,
      { share: scope.share, allowance: scope.allowance },
    ),
  )
  for (const relay of relays) bus.onUp(() => relay.nudge())
  observe(deps, relays)
  return { relays, services: relays }
}

/** Wakes the relays of this process, and tells those of others. `onHint`: another process has written something. */
export function wakeRelays(deps: Deps, core: Core, relays: readonly Relay[], onHint: () => void): Service[] {
  const due = new Set<number>()
  const report = loopErrors(deps, 'notify')
  core.appender.onAppended((shard) => {
    relays[shard]?.nudge()
    if (!deps.config.outboxNotify || due.has(shard)) return
    // Whoever holds every lane publishes all of it: there is nobody to tell.
    if (relays[shard]?.stats().lanes === LANE_COUNT) return
    // One hint for all appends of the next moment: every NOTIFY takes a lock of the whole server.
    due.add(shard)
    setTimeout(() => {
      due.delete(shard)
      notifyRelays(deps.databases.shards[shard]!.db).catch(report)
    }, NOTIFY_MS).unref()
  })
  if (!deps.config.outboxNotify || relays.length === 0) return []
  return deps.databases.shards.map(({ settings }, shard) =>
    createListener({
      settings,
      channel: 'noetl_outbox',
      clock: deps.clock,
      onHint: () => {
        relays[shard]?.nudge()
        onHint()
      },
      onError: loopErrors(deps, 'listen'),
    }),
  )
}

function relayLimits({ config }: Deps): RelayLimits {
  const limits: RelayLimits = {
    window: config.outboxWindow,
    bufferMax: Math.max(config.outboxPage * 4, config.outboxWindow * 2),
    page: config.outboxPage,
    leaseMs: config.outboxLeaseMs,
    idleMs: config.outboxIdleMs,
    attemptsMax: config.outboxAttemptsMax,
    deadPolicy: config.outboxDeadPolicy,
    ackTimeoutMs: config.outboxAckTimeoutMs,
  }
  // A relay may publish, die before settling, and be repeated by another: JetStream must still know the id.
  if (2 * limits.leaseMs + limits.ackTimeoutMs >= config.streamDedupWindowMs) {
    throw new CpError(
      'config',
      'a repeated message could come after JetStream has forgotten its id: NOETL_EVENT_STREAM_DEDUP_SECS must exceed twice NOETL_CP_OUTBOX_LEASE plus NOETL_CP_OUTBOX_ACK_TIMEOUT',
    )
  }
  return limits
}

function subjectOf(core: Core, row: OutboxRow): string {
  return core.subjectOf({
    tenantId: 'default',
    organizationId: 'default',
    executionId: (row.execution_id ?? '0') as never,
  })
}

function relayHooks(deps: Deps, shard: number): RelayHooks {
  const { metrics } = deps
  const log = componentLog(deps.log, 'relay')
  // Counted here and handed over when somebody looks: finding a series by its labels costs more than sending a message.
  const tally: Record<PublishOutcome['kind'], number> = { stored: 0, unknown: 0, unavailable: 0, rejected: 0 }
  metrics.onRead(() => {
    for (const [outcome, count] of Object.entries(tally)) {
      metrics.inc('noetl_cp_outbox_publish_total', { outcome }, count)
      tally[outcome as PublishOutcome['kind']] = 0
    }
  })
  return {
    onPublished: (duplicate, seconds) => {
      if (duplicate) metrics.inc('noetl_cp_outbox_duplicates_total')
      metrics.observe('noetl_cp_outbox_publish_seconds', seconds)
    },
    onOutcome: (outcome) => {
      tally[outcome] += 1
    },
    onDead: (reason, why) => {
      metrics.inc('noetl_cp_outbox_dead_total', { reason: why })
      log.warn({ shard, reason }, 'an outbox row is dead; see "noetl-cp outbox dead list"')
    },
    onFenced: (count) => {
      metrics.inc('noetl_cp_outbox_fenced_total', {}, count)
      log.warn({ shard, count }, 'late marks were turned away: the lease had gone to another relay')
    },
    onTakenOver: (lanes) => {
      metrics.inc('noetl_cp_outbox_lanes_taken_over_total', {}, lanes)
      log.info({ shard, lanes }, 'took over lanes of a relay that vanished')
    },
    onPossibleDuplicate: () => metrics.inc('noetl_cp_outbox_possible_duplicates_total'),
    onPaused: (reason) => log.warn({ shard, reason }, 'publishing is paused'),
    onError: loopErrors(deps, `relay ${shard}`),
  }
}

function observe(deps: Deps, relays: readonly Relay[]): void {
  deps.metrics.onCollect(() => {
    for (const [shard, relay] of relays.entries()) {
      const stats = relay.stats()
      deps.metrics.set('noetl_cp_outbox_lanes', stats.lanes, { shard: String(shard) })
      deps.metrics.set('noetl_cp_outbox_in_flight', stats.inFlight, { shard: String(shard) })
    }
  })
}
