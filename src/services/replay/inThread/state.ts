// The tasks behind "what was the state": the document as bytes, or as a seed to be stored. Only bytes and
// plain values leave the thread; a state as objects would be copied, and its floats would not survive it.
import { gzipSync } from 'node:zlib'
import { integerValue, isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { type AnswerOptions, answerBytes, warningsOf } from '../../../domain/replay/answer.js'
import type { FoldResult } from '../../../domain/replay/foldTypes.js'
import { type ResolutionReport, resolvePayloads } from '../../../domain/replay/payloadResolution.js'
import { CP_PROFILE_MARK, type ProjectionChecksums } from '../../../domain/replay/profile.js'
import type { ReplayQuery } from '../../../domain/replay/replayQuery.js'
import { seedAggregateId } from '../../../domain/replay/replaySeed.js'
import { REGISTRY_DIGEST } from '../../../domain/replay/schemaLabel.js'
import type { TimelineReport } from '../../../domain/replay/timeline.js'
import { readLogVersion } from '../../../stores/replay/replayStore.js'
import { onSnapshot, type WorkerDatabase } from './database.js'
import { type FoldedLog, type FoldRequest, foldLog } from './foldLog.js'
import { openPayloads, type PayloadSources } from './payloads.js'
import type { SeedUse } from './seed.js'

export interface ReplayInput extends FoldRequest {
  database: WorkerDatabase
  deadlineMs: number
  answer: AnswerOptions
  /** Where payloads may be read; null: nobody asked for them. */
  payloads: PayloadSources | null
}

export interface ReplayOutput {
  /** The JSON text of the answer. */
  document: Uint8Array
  checksum: string
  projectionChecksums: ProjectionChecksums
  eventCount: string
  eventsRead: number
  truncated: boolean
  nextEventId: string | null
  mayChange: boolean
  isRedacted: boolean
  /** JSON text: warnings and unknown event types. */
  warnings: string
  seed: SeedUse
  timeline: TimelineReport | null
}

export async function replay(input: ReplayInput): Promise<ReplayOutput> {
  const started = performance.now()
  const folded = await onSnapshot(
    input.database,
    input.deadlineMs,
    (snapshot) => foldLog(snapshot, { ...input, keepText: true }),
    { asksOpenSince: input.query.cutoff?.kind === 'time' },
  )
  const { result } = folded
  const leftMs = input.deadlineMs - (performance.now() - started)
  const payloads = await payloadReport(result, input, leftMs)
  const { bytes, isRedacted } = answerBytes(result, folded, input.answer, payloads)
  return {
    document: owned(bytes),
    checksum: result.checksum,
    projectionChecksums: result.projectionChecksums,
    eventCount: String(result.eventCount),
    eventsRead: folded.eventsRead,
    truncated: folded.truncated,
    nextEventId: folded.nextEventId,
    mayChange: folded.mayChange,
    isRedacted,
    warnings: writeJson(warningsOf(result)),
    seed: folded.seed,
    timeline: folded.timeline,
  }
}

/** After the view of the log is closed: nothing holds a transaction open while others are asked. */
async function payloadReport(
  { payloadReferences }: FoldResult,
  { profile, payloads }: ReplayInput,
  leftMs: number,
): Promise<ResolutionReport | undefined> {
  if (payloads === null) return undefined
  const reader = openPayloads(payloads, leftMs)
  try {
    return await resolvePayloads(payloadReferences(), reader.read, profile)
  } finally {
    await reader.close()
  }
}

/** In memory of its own: a view of a shared pool could not be handed over to another thread. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

export interface SeedInput {
  database: WorkerDatabase
  deadlineMs: number
  tenantId: string
  organizationId: string
  executionId: string
  /** Continue from the stored seed if it is usable. */
  fromSnapshot: boolean
}

export interface SeedOutput {
  aggregateId: string
  version: string
  checksum: string
  eventCount: string
  eventsRead: number
  /** JSON texts. */
  summary: string
  meta: string
  bytes: Uint8Array
  stateBytes: number
  seed: SeedUse
}

/** A complete state, ready to be stored. Null: the log is empty, or holds rows that nobody has numbered yet. */
export async function replaySeed(input: SeedInput): Promise<SeedOutput | null> {
  const query: ReplayQuery = {
    tenantId: input.tenantId,
    organizationId: input.organizationId,
    executionId: integerValue(BigInt(input.executionId)),
    projection: 'all',
    cutoff: null,
    limit: Number.POSITIVE_INFINITY,
    resolvePayloads: false,
    ids: 'number',
  }
  const found = await onSnapshot(input.database, input.deadlineMs, async (snapshot) => {
    const log = await readLogVersion(snapshot.connection, input.executionId, snapshot.leftMs())
    // Numbers given later to events that are in the seed already would look like late events.
    if (log.hasUnnumbered || log.streamVersion === null) return null
    const request = { profile: 'cp' as const, query, fromSnapshot: input.fromSnapshot, keepText: true }
    return { log, folded: await foldLog(snapshot, request) }
  })
  if (found === null || found.folded.result.lastEventId === null) return null
  return toSeed(found.folded, query, found.log.streamVersion!)
}

function toSeed({ result, eventsRead, seed }: FoldedLog, query: ReplayQuery, streamVersion: string): SeedOutput {
  const { bytes } = answerBytes({ ...result, warnings: [], unknownTypes: NOTHING_UNKNOWN }, WHOLE, PLAIN_ANSWER)
  const { state } = result
  const execution = state['execution']
  const summary: JsonObject = {
    fold_profile: CP_PROFILE_MARK,
    execution_id: query.executionId,
    event_count: result.eventCount,
    last_event_id: result.lastEventId,
    last_event_type: state['last_event_type'] ?? null,
    status: isJsonObject(execution) ? (execution['status'] ?? null) : null,
    // Older readers take a state for theirs by its upcaster digest; this is not a state, so it has none.
    state_in: 'snapshot_bytes',
  }
  const meta: JsonObject = {
    fold_profile: CP_PROFILE_MARK,
    registry_digest: REGISTRY_DIGEST,
    event_count: result.eventCount,
    stream_version: integerValue(BigInt(streamVersion)),
    projection_checksums: result.projectionChecksums,
  }
  return {
    aggregateId: seedAggregateId('cp', query),
    version: String(result.lastEventId),
    checksum: result.checksum,
    eventCount: String(result.eventCount),
    eventsRead,
    summary: writeJson(summary),
    meta: writeJson(meta),
    bytes: owned(gzipSync(bytes, { level: 1 })),
    stateBytes: bytes.byteLength,
    seed,
  }
}

const NOTHING_UNKNOWN = { count: 0, types: [] }
const WHOLE = { truncated: false, nextEventId: null, mayChange: false }
const PLAIN_ANSWER: AnswerOptions = {
  profile: 'cp',
  remarks: 'whenNeeded',
  ids: 'number',
  secretNames: null,
}
