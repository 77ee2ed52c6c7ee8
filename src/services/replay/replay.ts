// Replay for everybody who asks: HTTP, the command line, the daemon's own loops. The work is done by a worker
// thread with a connection of its own; here it gets its place, its deadline and its cancellation.

import type { Databases } from '../../db/databases.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import { integerValue } from '../../domain/json/value.js'
import type { AnswerOptions } from '../../domain/replay/answer.js'
import type { FoldProfile } from '../../domain/replay/profile.js'
import type { ReplayQuery } from '../../domain/replay/replayQuery.js'
import type { SeedProblem } from '../../domain/replay/replaySeed.js'
import { traced } from '../../runtime/tracing.js'
import { findOwner } from '../../stores/replay/replayStore.js'
import type { WorkerPool } from '../../workers/pool.js'
import { adoptAll } from '../events/adoption.js'
import type { DiffOutput, DiffSide, VerifyOutput } from './inThread/compare.js'
import { toWorkerDatabase, type WorkerDatabase } from './inThread/database.js'
import type { ParityOutput } from './inThread/parity.js'
import type { PayloadSources } from './inThread/payloads.js'
import type { SeedUse } from './inThread/seed.js'
import type { ReplayOutput } from './inThread/state.js'

export type { DiffOutput, DiffSummary, VerifyOutput } from './inThread/compare.js'
export type { ParityComparison } from './inThread/parity.js'
export type { ReplayOutput } from './inThread/state.js'

export type SeedOutcome = 'used' | 'none' | SeedProblem

export interface ReplayDeps {
  databases: Databases
  workers: WorkerPool
  timeoutMs: number
  /** Further names of secrets; null shows everything. */
  secretNames: readonly string[] | null
  /** How payloads are read for whoever asks for the report about them. */
  payloads: Omit<PayloadSources, 'databases' | 'shards' | 'cluster'>
  onReplay?: (kind: 'state' | 'diff' | 'verify' | 'seed', seconds: number, events: number) => void
  onSeed?: (outcome: SeedOutcome) => void
}

export interface RunOptions {
  signal?: AbortSignal
  /** Gets the number of events read so far. */
  progress?: SharedArrayBuffer
}

export interface ReplayRequest {
  profile: FoldProfile
  query: ReplayQuery
  fromSnapshot: boolean
  remarks: AnswerOptions['remarks']
  timeline?: boolean
}

export async function replayExecution(
  deps: ReplayDeps,
  request: ReplayRequest,
  options: RunOptions = {},
): Promise<ReplayOutput> {
  const { profile, query, fromSnapshot } = request
  await numberForCutoff(deps, query)
  const { ids } = query
  const output = await timed(deps, 'state', () =>
    deps.workers.run(
      'replay',
      {
        ...place(deps, query),
        profile,
        query,
        fromSnapshot,
        timeline: request.timeline ?? false,
        answer: { profile, remarks: request.remarks, ids, secretNames: deps.secretNames },
        payloads: query.resolvePayloads ? payloadSources(deps) : null,
        ...watched(options),
      },
      running(deps, options),
    ),
  )
  if (fromSnapshot) deps.onSeed?.(outcomeOf(output.seed))
  return output
}

function payloadSources({ databases: { all, shards, cluster }, payloads }: ReplayDeps): PayloadSources {
  return {
    ...payloads,
    databases: all.map(({ settings }) => toWorkerDatabase(settings)),
    shards: shards.map((shard) => all.indexOf(shard)),
    cluster: all.indexOf(cluster),
  }
}

export interface DiffRequest {
  profile: FoldProfile
  from: DiffSide
  to: DiffSide
}

export async function diffExecution(
  deps: ReplayDeps,
  request: DiffRequest,
  options: RunOptions = {},
): Promise<DiffOutput> {
  for (const side of [request.from, request.to]) await numberForCutoff(deps, side.query)
  return timed(deps, 'diff', () =>
    deps.workers.run(
      'replayDiff',
      { ...place(deps, request.from.query), ...request, secretNames: deps.secretNames, ...watched(options) },
      running(deps, options),
    ),
  )
}

export async function verifyExecution(
  deps: ReplayDeps,
  request: { profile: FoldProfile; query: ReplayQuery },
  options: RunOptions = {},
): Promise<VerifyOutput> {
  await numberForCutoff(deps, request.query)
  // The read model knows of numbered events only.
  if (request.query.cutoff === null) await numberAll(deps, String(request.query.executionId))
  return timed(deps, 'verify', () =>
    deps.workers.run(
      'replayVerify',
      { ...place(deps, request.query), ...request, ...watched(options) },
      running(deps, options),
    ),
  )
}

export async function parityExecution(
  deps: ReplayDeps,
  query: ReplayQuery,
  options: RunOptions = {},
): Promise<ParityOutput> {
  // The read model knows of numbered events only.
  await numberAll(deps, String(query.executionId))
  return timed(deps, 'verify', () =>
    deps.workers.run(
      'replayParity',
      { ...place(deps, query), query, secretNames: deps.secretNames, ...watched(options) },
      running(deps, options),
    ),
  )
}

/** Whose log it is; for callers who are asked for an id alone. */
export async function ownerOf(
  deps: Pick<ReplayDeps, 'databases'>,
  executionId: string,
): Promise<{ tenantId: string; organizationId: string }> {
  const owner = await findOwner(deps.databases.of(executionId), executionId)
  if (owner === undefined) throw noSuchExecution(executionId)
  return { tenantId: owner.tenant_id, organizationId: owner.organization_id }
}

/** The question about a whole execution as it is now. */
export function wholeLog(owner: { tenantId: string; organizationId: string }, executionId: string): ReplayQuery {
  return {
    ...owner,
    executionId: integerValue(BigInt(executionId)),
    projection: 'all',
    cutoff: null,
    limit: Number.POSITIVE_INFINITY,
    resolvePayloads: false,
    ids: 'number',
  }
}

export function outcomeOf(seed: SeedUse): SeedOutcome {
  if (!seed.found) return 'none'
  return seed.problem ?? 'used'
}

export function placeOf(deps: ReplayDeps, executionId: string): { database: WorkerDatabase; deadlineMs: number } {
  const { databases, timeoutMs } = deps
  const shard = databases.shards[databases.shardOf(executionId)]!
  return { database: toWorkerDatabase(shard.settings), deadlineMs: timeoutMs }
}

function place(deps: ReplayDeps, query: ReplayQuery) {
  return placeOf(deps, String(query.executionId))
}

export function running(deps: ReplayDeps, { signal }: RunOptions) {
  return { timeoutMs: deps.timeoutMs, ...(signal === undefined ? {} : { signal }) }
}

function watched({ progress }: RunOptions) {
  return progress === undefined ? {} : { progress }
}

/** A version can only be asked for where every event has one. */
async function numberForCutoff(deps: ReplayDeps, query: ReplayQuery): Promise<void> {
  if (query.cutoff?.kind === 'version') await numberAll(deps, String(query.executionId))
}

export function numberAll({ databases }: ReplayDeps, executionId: string): Promise<void> {
  return adoptAll(databases.of(executionId), executionId)
}

export async function timed<T>(
  deps: ReplayDeps,
  kind: 'state' | 'diff' | 'verify' | 'seed',
  work: () => Promise<T>,
): Promise<T> {
  return traced('noetl.fold', { inherit: true, attributes: { 'noetl.fold': `replay ${kind}` } }, async (span) => {
    const started = performance.now()
    const result = await work()
    const events = (result as { eventsRead?: number } | null)?.eventsRead ?? 0
    span.set({ 'noetl.events': events })
    deps.onReplay?.(kind, (performance.now() - started) / 1000, events)
    return result
  })
}
