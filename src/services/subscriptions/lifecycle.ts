// Registers subscriptions and changes their state. A change is decided on one version of the row and refused by the
// database if the row has changed since, so operators who race leave one legal history. A repeated change writes nothing.
// When a call that ends deliveries returns, deliveries have ended.
import type { Databases } from '../../db/databases.js'
import { CATALOG_PATH_LENGTH_MAX } from '../../domain/catalog/catalogDocument.js'
import { type WireTime, wireTimeFromMillis, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import {
  decideSubscription,
  SUBSCRIPTION_REGISTERED,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionAction,
} from '../../domain/subscriptions/subscription.js'
import { CpError } from '../../errors.js'
import { getExecution } from '../../stores/executions/executionStore.js'
import {
  findByListener,
  findByPath,
  findNewer,
  getSubscription,
  insertSubscription,
  intendChange,
  type SubscriptionRow,
} from '../../stores/subscriptions/subscriptionStore.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertActivatable, assertSourceAllowed, entryOf, type ReadEntry, readEntry } from './entry.js'
import { closeFences } from './fences.js'
import { followLog, followNews, newsMemory, withoutIntent } from './following.js'
import {
  completeIntent,
  type LifecycleDeps,
  type LifecycleStep,
  makeIntent,
  SUBSCRIPTION_UPDATED,
  writeIntent,
} from './intent.js'

export type { SubscriptionRow } from '../../stores/subscriptions/subscriptionStore.js'
export type { LifecycleDeps } from './intent.js'

export interface Note {
  reason?: string | undefined
  actor?: string | undefined
}

export interface Changed {
  row: SubscriptionRow
  changed: boolean
}

// Every round that fails means that somebody else got further.
const ROUNDS_MAX = 200
const ROUND_MS = 3
const NEWS_PAGES_MAX = 20

export async function registerSubscription(deps: LifecycleDeps, path: string, note: Note = {}): Promise<Changed> {
  if (path === '' || path.length > CATALOG_PATH_LENGTH_MAX) {
    throw new CpError('invalid_input', `path must have 1 to ${CATALOG_PATH_LENGTH_MAX} characters`)
  }
  const read = readEntry(await deps.documents.ofEntry(await findEntry(deps, { path })))
  assertSourceAllowed(path, read.spec, deps.own)
  const { db } = deps.databases.cluster
  if (!(await findByPath(db, path))?.live) await followAllNews(deps)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const row = await withoutIntent(deps, await findByPath(db, path))
    if (row?.live) {
      if (isCurrent(row, read)) {
        tell(deps, 'reused', row.state, row)
        return { row, changed: false }
      }
      if (await intendUpdate(deps, row, read, note)) {
        await withoutIntent(deps, await getSubscription(db, row.subscription_id))
        const after = await findSubscription(deps, row.subscription_id)
        tell(deps, 'updated', row.state, after)
        return { row: after, changed: true }
      }
    } else {
      const id = await insertNew(deps, path, read, note)
      if (id !== undefined) {
        await withoutIntent(deps, await getSubscription(db, id))
        const after = await findSubscription(deps, id)
        tell(deps, 'registered', null, after)
        return { row: after, changed: true }
      }
    }
    await deps.clock.sleep(ROUND_MS)
  }
  throw tooBusy(path)
}

function tell(
  deps: LifecycleDeps,
  outcome: LifecycleStep['outcome'],
  from: LifecycleStep['from'],
  { subscription_id: subscription, path, state: to }: SubscriptionRow,
): void {
  deps.onLifecycle?.({ outcome, subscription, path, from, to })
}

/** Another server may have given the path an id a moment ago. Logs that cannot be followed are told by the log watch. */
async function followAllNews(deps: LifecycleDeps): Promise<void> {
  const memory = newsMemory()
  for (let page = 0; page < NEWS_PAGES_MAX; page++) if (!(await followNews(deps, memory)).hasMore) return
}

/** An older version of the entry is never taken back: registrations may overtake each other. */
function isCurrent(row: SubscriptionRow, { entry }: ReadEntry): boolean {
  if (row.mode === null) return false
  return row.catalog_id === entry.catalogId || (row.catalog_version ?? 0) >= (entry.catalogVersion ?? 0)
}

async function insertNew(
  deps: LifecycleDeps,
  path: string,
  { entry }: ReadEntry,
  note: Note,
): Promise<string | undefined> {
  const { db } = deps.databases.cluster
  const id = deps.ids.next()
  const intent = await makeIntent(deps, undefined, {
    eventType: SUBSCRIPTION_REGISTERED.eventType,
    state: SUBSCRIPTION_REGISTERED.status,
    reason: note.reason ?? null,
    actor: note.actor ?? null,
    until: null,
    entry: null,
  })
  if (await insertSubscription(db, { id, path, entry, pending: writeIntent(intent) })) return id
  if (entry.listener !== null) await refuseTakenListener(deps, entry.listener, path)
  return undefined
}

async function refuseTakenListener(deps: LifecycleDeps, listener: string, path: string): Promise<void> {
  const holder = await findByListener(deps.databases.cluster.db, listener)
  if (holder === undefined || holder.path === path) return
  throw new CpError(
    'refused',
    `the listener ${listener} belongs to subscription ${holder.subscription_id} (${holder.path}); give ${path} another last segment in spec.ingress.gateway_path`,
    { details: { listener, holder: holder.subscription_id } },
  )
}

async function intendUpdate(deps: LifecycleDeps, row: SubscriptionRow, read: ReadEntry, note: Note): Promise<boolean> {
  // A running subscription must stay deliverable.
  if (row.state === 'ACTIVE') assertActivatable(row.path, read, deps.own)
  const intent = await makeIntent(deps, row, {
    eventType: SUBSCRIPTION_UPDATED,
    state: row.state,
    reason: note.reason ?? null,
    actor: note.actor ?? null,
    until: null,
    entry: read.entry,
  })
  return intend(deps, row, writeIntent(intent), read.entry.listener)
}

/** False: somebody was faster. A listener or path that is taken by another id is refused. */
async function intend(
  deps: LifecycleDeps,
  row: SubscriptionRow,
  pending: ReturnType<typeof writeIntent>,
  listener: string | null,
): Promise<boolean> {
  try {
    return await intendChange(deps.databases.cluster.db, {
      id: row.subscription_id,
      version: row.version,
      pending,
      listener,
    })
  } catch (error) {
    if (!(error instanceof CpError) || error.code !== 'conflict') throw error
    if (listener !== null) await refuseTakenListener(deps, listener, row.path)
    await refuseNewerId(deps, row)
    throw error
  }
}

async function refuseNewerId(deps: LifecycleDeps, row: SubscriptionRow): Promise<void> {
  const newer = await findNewer(deps.databases.cluster.db, row.path, row.subscription_id)
  if (newer === undefined) return
  throw new CpError(
    'illegal_transition',
    `subscription ${row.subscription_id} is ${row.state} and ${row.path} has a newer id, ${newer}; use that one`,
    { details: { state: row.state, newer } },
  )
}

export interface Change extends Note {
  id: string
  action: SubscriptionAction
  /** Only for pause and drain: when it ends by itself. */
  until?: WireTime | undefined
  /** Only if nothing has changed since this version; for those who act on what they read earlier. */
  ifVersion?: string | undefined
}

export async function changeSubscription(deps: LifecycleDeps, change: Change): Promise<Changed> {
  if (change.until !== undefined) assertUntil(deps, change)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const row = await followLog(deps, await withoutIntent(deps, await findSubscription(deps, change.id)))
    if (row === undefined) continue
    if (change.ifVersion !== undefined && row.version !== change.ifVersion) return { row, changed: false }
    const decision = decideSubscription(row.state, change.action)
    if (!decision.changed && !changesEnd(row, change)) {
      // The caller before us may have died before it closed them.
      await closeFences(deps, row)
      return { row, changed: false }
    }
    if (row.state === 'DEACTIVATED' || (!row.live && decision.status === 'ACTIVE')) await refuseNewerId(deps, row)
    if (decision.changed && decision.status === 'ACTIVE')
      assertActivatable(row.path, await entryOf(deps, row.catalog_id), deps.own)
    const intent = await makeIntent(deps, row, {
      eventType: SUBSCRIPTION_TRANSITIONS[change.action].eventType,
      state: SUBSCRIPTION_TRANSITIONS[change.action].status,
      reason: change.reason ?? null,
      actor: change.actor ?? null,
      until: change.until ?? null,
      entry: null,
    })
    if (await intend(deps, row, writeIntent(intent), row.listener)) {
      const intended = { ...row, pending: writeIntent(intent) }
      if ((await completeIntent(deps, intended)) === 'done') {
        const after = await findSubscription(deps, change.id)
        await closeFences(deps, after)
        tell(deps, 'transition', row.state, after)
        return { row: after, changed: true }
      }
    }
    await deps.clock.sleep(ROUND_MS)
  }
  throw tooBusy(`subscription ${change.id}`)
}

/** A pause or drain that is under way may be given another end. */
function changesEnd(row: SubscriptionRow, { until }: Change): boolean {
  if (until === undefined) return false
  return row.paused_until === null || wireTimeFromPostgres(row.paused_until, 'paused_until') !== until
}

function assertUntil(deps: LifecycleDeps, { until, action }: Change): void {
  if (action !== 'pause' && action !== 'drain')
    throw new CpError('invalid_input', 'until belongs to pause and drain only')
  if (until! <= wireTimeFromMillis(deps.clock.now())) {
    throw new CpError('invalid_input', `until must lie in the future, not at ${until}`)
  }
}

export async function findSubscription(deps: { databases: Databases }, id: string): Promise<SubscriptionRow> {
  const row = await getSubscription(deps.databases.cluster.db, id)
  if (row !== undefined) return row
  const execution = await getExecution(deps.databases.of(id), id)
  const next = execution === undefined ? 'subscription list' : `execution show ${id}`
  const what =
    execution === undefined ? `subscription ${id} was never registered` : `${id} is an execution, not a subscription`
  throw new CpError('not_found', `${what}; see "noetl-cp ${next}"`)
}

function tooBusy(what: string): CpError {
  return new CpError('overloaded', `${what} is being changed by many at once; try again`, {
    details: { retryAfterSeconds: 1 },
  })
}
