// The working parts that daemon and writing subcommands share: ids under a lease, the way into the log.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Config, KEYS } from '../config/keys.js'
import type { Db } from '../db/db.js'
import { ENGINE_VERSION } from '../domain/engine/settings.js'
import type { OwnedEvent } from '../domain/events/eventRecord.js'
import { proposeMachineId } from '../domain/ids/machineId.js'
import { assertSubjectTemplate, renderEventSubject } from '../domain/outbox/subject.js'
import { createEventSecrets, noEventSecrets } from '../domain/secrets/eventSecrets.js'
import { shardOf } from '../domain/shards/shards.js'
import { type OwnSources, ownSources } from '../domain/subscriptions/ownSources.js'
import { componentLog } from '../runtime/log.js'
import { createAppender } from '../services/events/appender.js'
import { type Starter, withStarts } from '../services/events/starts.js'
import { createIds, type Ids } from '../services/ids/ids.js'
import { createMembership, type Membership } from '../services/leases/membership.js'
import type { Deps } from './deps.js'

export interface Core {
  /** This process among those that share the work of a database. */
  membershipOf(db: Db): Membership
  ids: Ids
  appender: Starter
  subjectOf(event: SubjectParts): string
  /** What no subscription may read. */
  own: OwnSources
  /** The version of the engine that drives what is started here; undefined: nobody does. */
  engine: number | undefined
}

type SubjectParts = Pick<OwnedEvent, 'tenantId' | 'organizationId' | 'executionId'>

export function buildCore(deps: Deps, use: 'daemon' | 'oneShot'): Core {
  const { config, databases, metrics } = deps
  const log = componentLog(deps.log, 'ids')
  // Unique per boot: a restarted process is another member.
  const memberId = `${config.hostName ?? hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
  const sources = { explicit: config.machineId, hostname: config.hostName, osHostname: hostname() }
  const proposed = proposeMachineId(sources)
  const ids = createIds(
    { proposed, use },
    {
      db: databases.cluster.db,
      clock: deps.clock,
      random: deps.random,
      owner: memberId,
      onTaken: (machineId) => {
        const isProposed = use === 'daemon' && machineId === proposed.machineId
        const source = isProposed ? (proposed.explicit ? KEYS.machineId.env : 'host name') : 'next free one'
        log.info({ machineId, source }, 'ids are minted with this machine id')
      },
      onError: (code, message) => {
        metrics.inc('noetl_cp_id_lease_errors_total', { reason: code === 'lost_claim' ? 'lost' : 'unreachable' })
        log.warn({ reason: message }, 'the machine id could not be renewed')
      },
    },
  )
  metrics.onCollect(() => {
    const counters = ids.counters()
    metrics.set('noetl_cp_machine_id', ids.machineId() ?? -1)
    metrics.set('noetl_cp_id_clock_refusals', counters?.clockRefusals ?? 0)
    metrics.set('noetl_cp_id_ahead_of_clock_seconds', (counters?.aheadMs ?? 0) / 1000)
  })

  const template = config.subjectTemplate.replace('{prefix}', config.subjectPrefix)
  assertSubjectTemplate(template)
  const subjectShards = config.subjectShardCount ?? databases.shards.length
  const subjectOf = rememberingLast((event: SubjectParts) =>
    renderEventSubject(
      {
        tenant: event.tenantId,
        organization: event.organizationId,
        execution: event.executionId,
        shard: shardOf(event.executionId, subjectShards),
      },
      template,
    ),
  )
  const memberships = new Map<Db, Membership>()
  const secrets =
    deps.secretRules === null
      ? noEventSecrets
      : createEventSecrets(deps.secretRules, deps.keyring, () => metrics.inc('noetl_cp_secrets_dropped_total'))
  const context = { subjectOf, mintAbove: ids.above, secrets }
  return {
    membershipOf: (db) => {
      const known = memberships.get(db) ?? createMembership({ db, clock: deps.clock, id: memberId, kind: use })
      memberships.set(db, known)
      return known
    },
    ids,
    appender: withStarts(createAppender(databases, context), databases, context),
    subjectOf,
    own: ownSourcesOf(config),
    engine: config.engineEnabled ? ENGINE_VERSION : undefined,
  }
}

export function ownSourcesOf(config: Config): OwnSources {
  const { streamName, commandStream, subjectPrefix, subjectTemplate: template } = config
  return ownSources({ streams: [streamName, commandStream], subjectPrefix, template })
}

/** The events of a batch belong to one execution and share their subject. */
function rememberingLast(render: (event: SubjectParts) => string): (event: SubjectParts) => string {
  let last: { event: SubjectParts; subject: string } | undefined
  return (event) => {
    if (
      last === undefined ||
      last.event.executionId !== event.executionId ||
      last.event.tenantId !== event.tenantId ||
      last.event.organizationId !== event.organizationId
    ) {
      const { executionId, tenantId, organizationId } = event
      last = { event: { executionId, tenantId, organizationId }, subject: render(event) }
    }
    return last.subject
  }
}
