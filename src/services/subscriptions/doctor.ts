// What `doctor` says about subscriptions: those that stand still, those that nobody drives, those whose consumer is
// gone, and messages that were given up and wait for somebody to look at them.

import type { Bus } from '../../bus/connect.js'
import type { Databases } from '../../db/databases.js'
import { counted } from '../../domain/counted.js'
import { toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { countDead } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { loggedIds } from '../../stores/subscriptions/subscriptionLogStore.js'
import { missingRows } from '../../stores/subscriptions/subscriptionPathStore.js'
import { listSubscriptions, listSuspicious, type SuspiciousRow } from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import type { Finding } from '../health/finding.js'
import { type Obstacle, visibleObstacles } from './obstacles.js'
import { backlogOrTrouble } from './views.js'

export interface SubscriptionInspection {
  databases: Databases
  documents: CatalogDocuments
  bus: Bus | undefined
  clock: Clock
}

const PAUSED_SECONDS_MAX = 7 * 86_400
const DRAINING_SECONDS_MAX = 600
// Longer than the longest lease plus a restart.
const UNDRIVEN_SECONDS_MAX = 60
const FINDINGS_MAX = 50
const ACTIVE_MAX = 100
const BEFORE_ALL = '-9223372036854775808'
const LOG_PAGE = 500
const LOG_PAGES_MAX = 20
const NAMED_MAX = 5

export async function subscriptionFindings(deps: SubscriptionInspection): Promise<Finding[]> {
  const { label, db } = deps.databases.cluster
  try {
    const limits = { paused: PAUSED_SECONDS_MAX, draining: DRAINING_SECONDS_MAX, undriven: UNDRIVEN_SECONDS_MAX }
    const rows = await listSuspicious(db, limits, FINDINGS_MAX)
    const dead = await countDead(db)
    const unknown = await unknownFindings(deps)
    return [...rows.map(findingOf), ...unknown, ...deadFindings(dead), ...(await activeFindings(deps))]
  } catch (error) {
    const failure = toCpError(error)
    // Without a schema there is nothing to look at; that, and a database that is away, are findings made elsewhere.
    if (failure.code === 'schema_mismatch' || failure.code === 'unavailable') return []
    return [{ level: 'problem', where: label, finding: failure.message, fix: 'noetl-cp subscription list' }]
  }
}

function findingOf(row: SuspiciousRow): Finding {
  const where = `subscription ${row.subscription_id}`
  const days = Math.floor(row.seconds / 86_400)
  const since = days > 0 ? counted(days, 'day') : `${Math.round(row.seconds)} s`
  switch (row.suspicion) {
    case 'trouble':
      return {
        level: 'problem',
        where,
        finding: `${row.path} does not deliver: ${row.trouble}`,
        fix: `noetl-cp subscription show ${row.subscription_id}`,
      }
    case 'paused':
      return {
        level: 'advice',
        where,
        finding: `${row.path} has been paused for ${since} without an end${row.actor === null ? '' : ` (by ${row.actor})`}; messages may age out of its stream`,
        fix: `noetl-cp subscription resume ${row.subscription_id}, or deactivate it`,
      }
    case 'draining':
      return {
        level: 'problem',
        where,
        finding: `${row.path} has been draining for ${since}`,
        fix: row.external
          ? `its own runtime deactivates it; if that is gone, noetl-cp subscription deactivate ${row.subscription_id}`
          : `start a daemon to complete it, or noetl-cp subscription deactivate ${row.subscription_id}`,
      }
    case 'superseded':
      return {
        level: 'advice',
        where,
        finding: `${row.path} has another id that holds it, so this one delivers nothing`,
        fix: `noetl-cp subscription deactivate ${row.subscription_id}`,
      }
    case 'undriven':
      return {
        level: 'problem',
        where,
        finding: `${row.path} is ACTIVE and no daemon drives it`,
        fix: 'start a daemon with NATS and NOETL_CP_SUBSCRIPTIONS=true, or look into its log',
      }
  }
}

/** Logs that the read model does not know: of a shard that was adopted, or written while no daemon ran. */
async function unknownFindings({ databases }: SubscriptionInspection): Promise<Finding[]> {
  const { answers } = await databases.fanOut(async (db) => {
    const unknown: string[] = []
    for (let page = 0, after = BEFORE_ALL; page < LOG_PAGES_MAX; page++) {
      const ids = await loggedIds(db, after, LOG_PAGE)
      unknown.push(...(await missingRows(databases.cluster.db, ids)))
      if (ids.length < LOG_PAGE) break
      after = ids[ids.length - 1]!
    }
    return unknown
  })
  return answers.flatMap(({ shard, value: ids }) =>
    ids.length === 0
      ? []
      : [
          {
            level: 'problem',
            where: databases.shards[shard]!.label,
            finding: `${counted(ids.length, 'subscription of its log is', 'subscriptions of its log are')} not known here: ${ids.slice(0, NAMED_MAX).join(', ')}${ids.length > NAMED_MAX ? ' …' : ''}`,
            fix: 'start a daemon, which takes them over, or noetl-cp subscription rebuild',
          },
        ],
  )
}

function deadFindings(count: number): Finding[] {
  if (count === 0) return []
  return [
    {
      level: 'advice',
      where: 'subscriptions',
      finding: counted(count, 'given-up message waits', 'given-up messages wait'),
      fix: 'noetl-cp subscription dead list, then noetl-cp subscription dead redrive <id>',
    },
  ]
}

const FIXES: Record<Obstacle['kind'], string> = {
  entry: 'correct the catalog entry and register it again',
  playbook: 'noetl-cp catalog register <file>; messages wait until then',
  stream: 'make the stream, or correct the catalog entry',
  secret: 'give it to the daemon',
  pool: 'start a worker of that pool, or correct dispatch.execution_pool',
}

/** Of the newest that are active here: what is missing, and consumers that are gone. */
async function activeFindings(deps: SubscriptionInspection): Promise<Finding[]> {
  const filter = {
    state: 'ACTIVE',
    pathPattern: null,
    mode: null,
    cursor: null,
    limit: ACTIVE_MAX,
    order: 'newest' as const,
  }
  const findings: Finding[] = []
  for (const row of await listSubscriptions(deps.databases.cluster.db, filter)) {
    if (!row.live || row.external) continue
    const where = `subscription ${row.subscription_id}`
    const obstacles = await visibleObstacles(deps, row)
    for (const { kind, text } of obstacles) {
      // What its runtime has told already is among the others.
      if (row.trouble !== null && kind !== 'pool') continue
      const level = kind === 'pool' ? 'advice' : 'problem'
      findings.push({ level, where, finding: `${row.path} is ACTIVE, but ${text}`, fix: FIXES[kind] })
    }
    if (row.mode !== 'pull' || obstacles.some(({ kind }) => kind === 'stream') || !deps.bus?.isConnected()) continue
    const found = await backlogOrTrouble(deps, row)
    if ('trouble' in found || found.exists) continue
    findings.push({
      level: 'problem',
      where,
      finding: `${row.path} is ACTIVE and its consumer does not exist in the stream`,
      fix: 'a running daemon makes it again, from the first message on unless the source says deliver: new; see noetl-cp subscription show',
    })
  }
  return findings
}
