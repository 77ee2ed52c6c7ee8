// The outbox as a daemon answers it, in the rows that the commands show.
import type { JsonValue } from '../../domain/json/value.js'
import { cursorText, parseCursor } from '../../domain/outbox/cursor.js'
import { CpError } from '../../errors.js'
import type { DeadWork, ShardStatus, showOutboxRow } from '../../services/outbox/admin.js'
import type { DeadFilter, ListScope, OutboxPage, OutboxStatus } from '../../services/outbox/pages.js'
import { collectPages, given, numberOf, type RemoteClient } from '../remote.js'

const PAGE_MAX = 500
const WORK_MAX = 100_000

type Row = OutboxPage['rows'][number]
type WholeRow = Awaited<ReturnType<typeof showOutboxRow>>
/** A daemon keeps to itself how a lease is proven. */
export type RowShown = Omit<WholeRow, 'locked_at' | 'lease_token'> & Partial<WholeRow>

export async function statusRemotely(remote: RemoteClient): Promise<ShardStatus[]> {
  const { shards = [] } = await remote.call('getInternalOutboxStatus', {})
  return shards.map((one): ShardStatus => {
    const about = { shard: one.shard!, label: one.label! }
    if (one.error != null) return { ...about, error: new CpError('unavailable', one.error) }
    const published = one.published as { rows: number; is_estimate: boolean }
    return {
      ...about,
      backlog: one.backlog as NonNullable<ShardStatus['backlog']>,
      dead: one.dead ?? 0,
      published: { rows: published.rows, isEstimate: published.is_estimate },
      oldestAgeSeconds: one.oldest_age_seconds == null ? undefined : numberOf(one.oldest_age_seconds),
      publishedLastMinute: one.published_last_minute ?? 0,
      owners: one.owners as NonNullable<ShardStatus['owners']>,
      relays: one.relays as NonNullable<ShardStatus['relays']>,
    }
  })
}

interface RowScope extends ListScope {
  status?: OutboxStatus | undefined
  executionId?: string | undefined
}

export function rowsRemotely(remote: RemoteClient, scope: RowScope): Promise<OutboxPage> {
  return pageRemotely(scope, (page) =>
    remote.ask('getInternalOutboxRows', { query: { ...page, ...given({ status: scope.status }) } }),
  )
}

export function deadRemotely(remote: RemoteClient, scope: ListScope & DeadFilter): Promise<OutboxPage> {
  return pageRemotely(scope, (page) =>
    remote.ask('getInternalOutboxDead', {
      query: { ...page, ...given({ reason: scope.reason, since: scope.since }) },
    }),
  )
}

interface PageQuery {
  execution_id?: string
  shard?: number
  cursor?: string
  limit: number
}

interface PageAnswer {
  answer: { rows?: readonly object[]; next_cursor?: string | null }
  headers: Headers
}

async function pageRemotely(
  scope: ListScope & { executionId?: string | undefined },
  read: (query: PageQuery) => Promise<PageAnswer>,
): Promise<OutboxPage> {
  let failed: number[] = []
  const page = await collectPages<Row, string>(
    scope.limit,
    scope.cursor === undefined ? undefined : cursorText(scope.cursor, '-'),
    async (cursor, limit) => {
      const { answer, headers } = await read({
        ...given({ execution_id: scope.executionId, shard: scope.shard, cursor }),
        limit: Math.min(limit, PAGE_MAX),
      })
      // Each page asks again for what one before it could not read.
      failed = headers.get('x-noetl-failed-shards')?.split(',').map(Number) ?? []
      return { rows: (answer.rows ?? []) as Row[], next: answer.next_cursor ?? undefined }
    },
  )
  const error = new CpError('unavailable', 'its database did not answer the daemon')
  return {
    rows: page.rows,
    next: page.next === undefined ? undefined : parseCursor(page.next, '-'),
    failures: failed.map((shard) => ({ shard, error })),
  }
}

export async function rowRemotely(remote: RemoteClient, id: string, shard: number | undefined): Promise<RowShown> {
  const params = { outbox_id: id }
  const row = await remote.call('getInternalOutboxRowsByOutboxId', { params, query: given({ shard }) })
  return { ...row, payload: (row.payload ?? null) as JsonValue } as RowShown
}

interface WorkScope {
  ids?: readonly string[] | undefined
  executionId?: string | undefined
  shard?: number | undefined
  limit: number
  /** Why, for the record. */
  note?: string | undefined
}

export async function retryRemotely(remote: RemoteClient, scope: WorkScope): Promise<number> {
  return (await remote.call('postInternalOutboxRetry', { body: bodyOf(scope) })).done!
}

export async function redriveRemotely(
  remote: RemoteClient,
  scope: WorkScope & DeadFilter & { dryRun: boolean },
): Promise<DeadWork> {
  const { reason, since, dryRun } = scope
  const body = { ...bodyOf(scope), ...given({ reason, since }), dry_run: dryRun }
  return (await remote.call('postInternalOutboxRedrive', { body })) as DeadWork
}

/** A daemon does at most so many in one request; what remains is told, as always. */
function bodyOf({ ids, executionId, shard, limit, note }: WorkScope) {
  return { ...given({ ids, execution_id: executionId, shard, note }), limit: Math.min(limit, WORK_MAX) }
}
