// Subscriptions as a daemon answers them, in what the commands show.
import type { JsonObject } from '../../domain/json/value.js'
import type { SubscriptionAction } from '../../domain/subscriptions/subscription.js'
import { CpError } from '../../errors.js'
import type { DeadRow, Redriven } from '../../services/subscriptions/deadLetters.js'
import type { HistoryItem } from '../../services/subscriptions/views.js'
import { collectPages, given, numberOf, type RemoteClient } from '../remote.js'

/** A subscription in full, as `verbose` answers it, and whether something changed. */
export interface ChangeShown {
  status: JsonObject
  changed: boolean
}

interface Note {
  reason?: string
  actor: string
}

export async function registerRemotely(remote: RemoteClient, path: string, note: Note): Promise<ChangeShown> {
  const { answer, headers } = await remote.ask('postSubscriptions', { body: { path, ...note } })
  return { status: await verboseStatus(remote, answer.subscription_id!), changed: isChanged(headers) }
}

export async function changeRemotely(
  remote: RemoteClient,
  request: Note & { id: string; action: SubscriptionAction; until: string | undefined },
): Promise<ChangeShown & { obstacles: string[] }> {
  const { id, action, ...body } = request
  const { headers } = await remote.ask('postSubscriptionsByIdByAction', { params: { id, action }, body: given(body) })
  const trouble = headers.get('x-noetl-trouble')
  return {
    status: await verboseStatus(remote, id),
    changed: isChanged(headers),
    obstacles: trouble === null ? [] : trouble.split('; '),
  }
}

function isChanged(headers: Headers): boolean {
  return headers.get('x-noetl-changed') === 'true'
}

async function verboseStatus(remote: RemoteClient, id: string): Promise<JsonObject> {
  const { backlog, ...status } = await verbose(remote, id)
  return status
}

async function verbose(remote: RemoteClient, id: string): Promise<JsonObject> {
  return (await remote.call('getSubscriptionsById', { params: { id }, query: { verbose: true } })) as JsonObject
}

export interface SubscriptionShown {
  status: JsonObject
  backlog: { pending: number; ack_pending: number; redelivered: number; oldest_age_seconds: number | null } | null
  /** Why the backlog is not known. */
  trouble: string | null
  /** A daemon does not tell. */
  shard: number | undefined
}

export async function showRemotely(remote: RemoteClient, id: string): Promise<SubscriptionShown> {
  const { backlog, ...status } = await verbose(remote, id)
  const { error, pending, ack_pending, redelivered, oldest_age_seconds } = backlog as JsonObject
  if (typeof error === 'string') return { status, backlog: null, trouble: error, shard: undefined }
  return {
    status,
    backlog: {
      pending: numberOf(pending),
      ack_pending: numberOf(ack_pending),
      redelivered: numberOf(redelivered),
      oldest_age_seconds: numberOf(oldest_age_seconds),
    },
    trouble: null,
    shard: undefined,
  }
}

export function listRemotely(
  remote: RemoteClient,
  asked: {
    state: string | null
    path: string | undefined
    mode: string | null
    cursor: string | null
    limit: number
  },
): Promise<{ rows: JsonObject[]; next: string | undefined }> {
  const { state, path, mode } = asked
  return collectPages(asked.limit, asked.cursor ?? undefined, async (cursor, limit) => {
    const { answer, headers } = await remote.ask('getSubscriptions', {
      query: { ...given({ state, path, kind: mode, cursor }), order: 'newest', limit, verbose: true },
    })
    const rows = (answer.subscriptions ?? []) as unknown as JsonObject[]
    return { rows, next: headers.get('x-noetl-next-cursor') ?? undefined }
  })
}

export async function historyRemotely(
  remote: RemoteClient,
  id: string,
  after: string,
  limit: number,
): Promise<HistoryItem[]> {
  const { events = [] } = await remote.call('getSubscriptionsByIdHistory', { params: { id }, query: { after, limit } })
  return events.map((event) => {
    const { event_id: eventId, event_type: eventType, catalog_id: catalogId, ...rest } = event
    return { ...rest, eventId, eventType, catalogId } as HistoryItem
  })
}

export interface DeadPage {
  page: readonly Omit<DeadRow, 'body'>[]
  hasMore: boolean
}

export async function deadRemotely(
  remote: RemoteClient,
  subscription: string | undefined,
  after: string,
  limit: number,
): Promise<DeadPage> {
  const query = { ...given({ subscription_id: subscription }), after, limit }
  const { dead_letters: page = [], has_more: hasMore = false } = await remote.call('getSubscriptionsDead', { query })
  return { page: page as unknown as DeadPage['page'], hasMore }
}

const REDRIVES_MAX = 100

export async function redriveRemotely(
  remote: RemoteClient,
  ids: readonly string[],
  why: string | undefined,
): Promise<Redriven[]> {
  const done: Redriven[] = []
  for (let from = 0; from < ids.length; from += REDRIVES_MAX) {
    const body = { ids: ids.slice(from, from + REDRIVES_MAX), ...given({ reason: why }) }
    const { results = [] } = await remote.call('postSubscriptionsDeadRedrive', { body })
    for (const { id, outcome, execution_id: executionId, reason } of results) {
      // As the command itself would: what is not there, or not active, ends it.
      if (outcome === 'refused') throw new CpError('refused', `${reason}`)
      done.push({ id: id!, outcome: outcome as Redriven['outcome'], ...given({ executionId, reason }) })
    }
  }
  return done
}
