// Executions as a daemon answers them, in the rows that the commands show.
import type { Labels } from '../../domain/executions/labels.js'
import type { JsonValue } from '../../domain/json/value.js'
import type { ExecutionDetail, ExecutionRow } from '../../services/executions/executionQueries.js'
import { collectPages, given, type RemoteClient } from '../remote.js'

type Told =
  | 'execution_id'
  | 'catalog_id'
  | 'path'
  | 'parent_execution_id'
  | 'status'
  | 'last_event_type'
  | 'last_node_name'
  | 'last_event_id'
  | 'start_time'
  | 'end_time'
  | 'error'
  | 'event_count'
  | 'labels'

/** What a daemon tells of an execution; the read model has more. */
export type ShownExecution = Pick<ExecutionRow, Told> & Partial<ExecutionRow>

export interface FilterAsked {
  statuses: string[] | null
  parentExecutionId: string | null
  step: string | null
  tenantId: string | null
  secondsMin: number | null
  secondsMax: number | null
  labels: Labels | null
  workerId: string | null
  text: string | undefined
  path: string | undefined
  since: string | null
  until: string | null
}

export interface ListAsked extends FilterAsked {
  isOldestFirst: boolean
  cursor: string | undefined
  limit: number
}

export interface ExecutionList {
  rows: ShownExecution[]
  /** Where the next page starts. */
  next: string | undefined
  failed: { shard: number; error: string }[]
  knowsTenant: boolean
}

const PAGE_MAX = 100

/** The same as a daemon takes it, each value a text. */
export function filterQuery(asked: FilterAsked) {
  return given({
    status: asked.statuses?.join(','),
    parent: asked.parentExecutionId,
    step: asked.step,
    tenant: asked.tenantId,
    min_seconds: asked.secondsMin === null ? undefined : String(asked.secondsMin),
    max_seconds: asked.secondsMax === null ? undefined : String(asked.secondsMax),
    worker: asked.workerId,
    label:
      asked.labels === null
        ? undefined
        : Object.entries(asked.labels)
            .map((label) => label.join('=').replace(/[\\,]/g, '\\$&'))
            .join(','),
    q: asked.text,
    path: asked.path,
    since: asked.since,
    until: asked.until,
  })
}

export async function listRemotely(remote: RemoteClient, asked: ListAsked): Promise<ExecutionList> {
  const query = { ...filterQuery(asked), ...(asked.isOldestFirst ? { order: 'oldest' as const } : {}) }
  const failed = new Set<number>()
  const page = await collectPages(asked.limit, asked.cursor, async (cursor, limit) => {
    const { answer, headers } = await remote.ask('getExecutions', {
      query: { ...query, ...given({ cursor }), limit: Math.min(limit, PAGE_MAX) },
    })
    for (const shard of headers.get('x-noetl-failed-shards')?.split(',') ?? []) failed.add(Number(shard))
    return { rows: answer as unknown as Answered[], next: headers.get('x-noetl-next-cursor') ?? undefined }
  })
  return {
    rows: page.rows.map(rowOf),
    next: page.next,
    failed: [...failed].map((shard) => ({ shard, error: 'its database did not answer the daemon' })),
    knowsTenant: asked.tenantId === null || page.rows.length > 0 || (await hasTenant(remote, asked.tenantId)),
  }
}

async function hasTenant(remote: RemoteClient, tenant: string): Promise<boolean> {
  const { rows } = await collectPages(1, undefined as string | undefined, async (cursor) => {
    const { answer, headers } = await remote.ask('getExecutions', { query: { tenant, ...given({ cursor }), limit: 1 } })
    return { rows: answer as unknown as Answered[], next: headers.get('x-noetl-next-cursor') ?? undefined }
  })
  return rows.length > 0
}

interface Answered extends Pick<ShownExecution, Exclude<Told, 'event_count' | 'last_node_name'>> {
  event_count: number
  current_step: string | null
}

function rowOf(one: Answered): ShownExecution {
  return {
    execution_id: one.execution_id,
    catalog_id: one.catalog_id,
    path: one.path,
    parent_execution_id: one.parent_execution_id,
    status: one.status,
    last_event_type: one.last_event_type,
    last_node_name: one.current_step,
    last_event_id: one.last_event_id,
    start_time: one.start_time,
    end_time: one.end_time,
    error: one.error,
    event_count: String(one.event_count),
    labels: one.labels !== null && Object.keys(one.labels).length > 0 ? one.labels : null,
  }
}

export interface DetailShown extends Pick<ExecutionDetail, 'workload' | 'events'> {
  row: ShownExecution
  /** A daemon does not tell. */
  shard: number | undefined
}

export async function showRemotely(remote: RemoteClient, executionId: string, limit: number): Promise<DetailShown> {
  const answer = await remote.call('getExecutionsByExecutionId', {
    params: { execution_id: executionId },
    query: { events: limit },
  })
  return {
    row: rowOf(answer as unknown as Answered),
    workload: (answer.workload ?? null) as JsonValue,
    events: (answer.events ?? []) as unknown as DetailShown['events'],
    shard: undefined,
  }
}
