// The outbox for outside publishers: claim rows under a lease, then report the outcome. A claim takes only lanes that
// no live relay holds and keeps the order of each execution; a mark changes only rows that the caller still holds.
// Ids are unique per database, so with several databases a mark must name its shard.
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import { writeEnvelope } from '../../domain/events/envelope.js'
import { CpError, toCpError } from '../../errors.js'
import { traced } from '../../runtime/tracing.js'
import { toEventRecord } from '../../stores/events/eventRows.js'
import {
  type ClaimedRow,
  countPending,
  markFailed,
  markPublished,
  readEvent,
  readPayload,
} from '../../stores/outbox/outboxClaimStore.js'
import { takeRows } from './takeRows.js'

export type { ClaimedRow } from '../../stores/outbox/outboxClaimStore.js'

export interface OutboxClaimDeps {
  databases: Databases
  random: () => number
  leaseSeconds: number
  attemptsMax: number
  deadPolicy: 'release' | 'hold'
  /** A mark that came too late, or for a row that is somebody else's. */
  onFenced?: (count: number) => void
  onDead?: () => void
}

const PENDING_MAX = 1_000_000
/** Lease tokens end in the shard, so that a mark finds its database; as many as there may be shards. */
const TOKEN_SHARDS = 1_024n

export interface Claimed {
  rows: (ClaimedRow & { shard: number })[]
  failedShards: number[]
}

export function claimOutbox(
  deps: OutboxClaimDeps,
  request: { limit: number; shard?: number | undefined },
): Promise<Claimed> {
  return traced('noetl.claim', { inherit: true }, async (span) => {
    const claimed = await claimAnywhere(deps, request)
    span.set({ 'noetl.rows': claimed.rows.length })
    return claimed
  })
}

async function claimAnywhere(
  deps: OutboxClaimDeps,
  request: { limit: number; shard?: number | undefined },
): Promise<Claimed> {
  const { shards } = deps.databases
  if (request.shard !== undefined) {
    const rows = await takeRows(deps, databaseOf(deps, request.shard), request.shard, request.limit)
    return { rows: rows.map((row) => ({ ...row, shard: request.shard! })), failedShards: [] }
  }
  // Anywhere, so that a busy first shard does not starve the others.
  const first = Math.floor(deps.random() * shards.length)
  const claimed: Claimed = { rows: [], failedShards: [] }
  let lastError: unknown
  for (let step = 0; step < shards.length && claimed.rows.length < request.limit; step++) {
    const shard = (first + step) % shards.length
    try {
      const rows = await takeRows(deps, shards[shard]!.db, shard, request.limit - claimed.rows.length)
      claimed.rows.push(...rows.map((row) => ({ ...row, shard })))
    } catch (error) {
      lastError = error
      claimed.failedShards.push(shard)
    }
  }
  if (claimed.failedShards.length === shards.length) throw toCpError(lastError)
  return claimed
}

export interface PublishedRequest {
  outboxIds: readonly string[]
  leaseTokens?: readonly string[] | undefined
  /** Where the stream put each, for the audit. */
  streamSeqs?: readonly string[] | undefined
  shard?: number | undefined
}

export async function markOutboxPublished(
  deps: OutboxClaimDeps,
  request: PublishedRequest,
): Promise<{ marked: number; notMarked: string[] }> {
  const { outboxIds, leaseTokens, streamSeqs } = request
  for (const [name, list] of Object.entries({ lease_tokens: leaseTokens, stream_seqs: streamSeqs })) {
    if (list !== undefined && list.length !== outboxIds.length)
      throw new CpError('invalid_input', `/${name} must have one entry per id, in the same order`)
  }
  const byShard = new Map<number, Map<string, { token: string | null; seq: string | null }>>()
  for (const [index, outboxId] of outboxIds.entries()) {
    const token = leaseTokens?.[index] ?? null
    const shard = shardOfMark(deps, request.shard, token)
    const marks = byShard.get(shard) ?? new Map<string, { token: string | null; seq: string | null }>()
    byShard.set(shard, marks.set(outboxId, { token, seq: streamSeqs?.[index] ?? null }))
  }
  const marked = new Set<string>()
  let asked = 0
  for (const [shard, marks] of byShard) {
    asked += marks.size
    const list = [...marks].map(([outboxId, mark]) => ({ outboxId, ...mark }))
    for (const id of await markPublished(databaseOf(deps, shard), list)) marked.add(`${shard}:${id}`)
  }
  const notMarked = [...byShard].flatMap(([shard, marks]) =>
    [...marks.keys()].filter((id) => !marked.has(`${shard}:${id}`)),
  )
  if (notMarked.length > 0) deps.onFenced?.(notMarked.length)
  return { marked: asked - notMarked.length, notMarked }
}

export interface FailedRequest {
  outboxId: string
  error: string
  maxDelaySeconds: number
  leaseToken?: string | undefined
  shard?: number | undefined
}

/** The wait follows from the attempts in the row, whatever the caller believes. */
export async function markOutboxFailed(
  deps: OutboxClaimDeps,
  request: FailedRequest,
): Promise<{ marked: boolean; availableInSeconds: number }> {
  const token = request.leaseToken ?? null
  const shard = shardOfMark(deps, request.shard, token)
  const outcome = await markFailed(databaseOf(deps, shard), {
    outboxId: request.outboxId,
    token,
    error: request.error,
    maxDelaySeconds: request.maxDelaySeconds,
    attemptsMax: deps.attemptsMax,
  })
  if (outcome === undefined) deps.onFenced?.(1)
  if (outcome?.status === 'DEAD') deps.onDead?.()
  return {
    marked: outcome !== undefined,
    availableInSeconds: outcome === undefined || outcome.status === 'DEAD' ? 0 : outcome.waitSeconds,
  }
}

export async function pendingOutbox(deps: OutboxClaimDeps): Promise<{ pending: number; failedShards: number[] }> {
  const { answers, failures } = await deps.databases.fanOut((db) => countPending(db, PENDING_MAX))
  if (answers.length === 0 && failures[0] !== undefined) throw failures[0].error
  return {
    pending: answers.reduce((sum, { value }) => sum + value, 0),
    failedShards: failures.map(({ shard }) => shard),
  }
}

/** The whole envelope of an event as text, for consumers that got only a reference to it. */
export async function outboxPayload(
  deps: Pick<OutboxClaimDeps, 'databases'>,
  executionId: string | undefined,
  eventId: string,
): Promise<string> {
  const { databases } = deps
  if (executionId === undefined) {
    // A row without an execution may lie in any database.
    const { answers, failures } = await databases.fanOut((db) => readPayload(db, null, eventId))
    const found = answers.find(({ value }) => value !== undefined)?.value
    if (found !== undefined) return found
    if (failures[0] !== undefined) throw failures[0].error
    throw new CpError('not_found', `there is no message of event ${eventId} without an execution`)
  }
  const db = databases.of(executionId)
  const stored = await readPayload(db, executionId, eventId)
  if (stored !== undefined) return stored
  // The row is removed some time after it was published; the event stays.
  const event = await readEvent(db, executionId, eventId)
  if (event === undefined)
    throw new CpError('not_found', `there is no event ${eventId} of execution ${executionId}, or it has been removed`)
  return writeEnvelope(toEventRecord(event), event.stream_version ?? undefined)
}

function databaseOf({ databases }: OutboxClaimDeps, shard: number): Db {
  const named = databases.shards[shard]
  if (named === undefined)
    throw new CpError('invalid_input', `shard must be from 0 to ${databases.shards.length - 1}, not ${shard}`)
  return named.db
}

function shardOfMark({ databases }: OutboxClaimDeps, given: number | undefined, token: string | null): number {
  if (given !== undefined) return given
  if (databases.shards.length === 1) return 0
  if (token !== null) return Number(BigInt(token) % TOKEN_SHARDS)
  throw new CpError(
    'invalid_input',
    'several databases have a row with this id: send the lease_token of the claim, or its shard',
  )
}
