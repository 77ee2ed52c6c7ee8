// The tasks that compare: two moments of one execution, or everything that should agree about it. All of it
// on one view of the log, so that an event which arrives meanwhile is not a difference.
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { isJsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { withoutSecrets } from '../../../domain/replay/answer.js'
import { contentDifferences } from '../../../domain/replay/diff.js'
import { type FoldProfile, SURFACES } from '../../../domain/replay/profile.js'
import type { ReplayQuery } from '../../../domain/replay/replayQuery.js'
import { SEED_PROBLEMS } from '../../../domain/replay/replaySeed.js'
import { REGISTRY_DIGEST } from '../../../domain/replay/schemaLabel.js'
import { CpError } from '../../../errors.js'
import { readModel } from '../../../stores/replay/replayStore.js'
import { onSnapshot, type Snapshot, type WorkerDatabase } from './database.js'
import { type FoldedLog, foldFrom, foldLog } from './foldLog.js'
import { findSeed, NO_SEED, type SeedUse } from './seed.js'

export interface DiffSide {
  query: ReplayQuery
  /** The stored state itself, without the events after it. */
  source: 'log' | 'snapshot'
}

export interface DiffInput {
  database: WorkerDatabase
  deadlineMs: number
  profile: FoldProfile
  from: DiffSide
  to: DiffSide
  secretNames: readonly string[] | null
  progress?: SharedArrayBuffer
}

export interface DiffOutput {
  /** JSON text of the list. */
  differences: string
  count: number
  from: DiffSummary
  to: DiffSummary
}

export interface DiffSummary {
  checksum: string
  eventCount: string
  /** Events that came in by the time asked for may still become visible. */
  mayChange: boolean
}

interface SideState {
  state: JsonObject
  checksum: string
  mayChange: boolean
}

const DIFFERENCES_MAX = 10_000

export async function replayDiff(input: DiffInput): Promise<DiffOutput> {
  const [from, to] = await onSnapshot(
    input.database,
    input.deadlineMs,
    async (snapshot) => [await documentOf(snapshot, input, input.from), await documentOf(snapshot, input, input.to)],
    { asksOpenSince: [input.from, input.to].some((side) => side.query.cutoff?.kind === 'time') },
  )
  const shown = (state: JsonObject) => (input.secretNames === null ? state : withoutSecrets(state, input.secretNames))
  const differences = contentDifferences(shown(from!.state), shown(to!.state))
  return {
    differences: writeJson(differences.slice(0, DIFFERENCES_MAX) as unknown as JsonValue),
    count: differences.length,
    from: summaryOf(from!),
    to: summaryOf(to!),
  }
}

async function documentOf(snapshot: Snapshot, input: DiffInput, side: DiffSide): Promise<SideState> {
  const { profile, progress } = input
  const request = { profile, query: side.query, fromSnapshot: false, ...(progress === undefined ? {} : { progress }) }
  if (side.source === 'log') {
    const { result, mayChange } = await foldLog(snapshot, request)
    return { state: result.state, checksum: result.checksum, mayChange }
  }
  const seed = await findSeed(snapshot, profile, side.query, REGISTRY_DIGEST)
  if (!seed.use.found) {
    throw new CpError('not_found', `execution ${side.query.executionId} has no snapshot; see "noetl-cp snapshot take"`)
  }
  if (seed.state === null) {
    const problem = seed.use.problem === null ? 'unusable' : SEED_PROBLEMS[seed.use.problem]
    throw new CpError('corrupt', `the snapshot of execution ${side.query.executionId} cannot be compared: ${problem}`)
  }
  return { state: seed.state, checksum: String(seed.state['checksum'] ?? ''), mayChange: false }
}

function summaryOf({ state, checksum, mayChange }: SideState): DiffSummary {
  return { checksum, eventCount: String(state['event_count'] ?? 0), mayChange }
}

export interface VerifyInput {
  database: WorkerDatabase
  deadlineMs: number
  profile: FoldProfile
  query: ReplayQuery
  progress?: SharedArrayBuffer
}

export interface VerifyCheck {
  check: 'snapshot' | 'read model'
  ok: boolean
  /** True when there was nothing to compare with. */
  skipped: boolean
  detail: string
  /** Where the first difference is, if there is a place. */
  pointer: string | null
}

export interface VerifyOutput {
  checksum: string
  eventCount: string
  status: string
  seed: SeedUse
  checks: VerifyCheck[]
}

export function replayVerify(input: VerifyInput): Promise<VerifyOutput> {
  return onSnapshot(input.database, input.deadlineMs, (snapshot) => verifyOn(snapshot, input))
}

export async function verifyOn(
  snapshot: Snapshot,
  { profile, query, progress }: Pick<VerifyInput, 'profile' | 'query' | 'progress'>,
): Promise<VerifyOutput> {
  const request = { profile, query, fromSnapshot: false, ...(progress === undefined ? {} : { progress }) }
  const seed = await findSeed(snapshot, profile, query, REGISTRY_DIGEST)
  const full = await foldFrom(snapshot, request, NO_SEED)
  const seeded = seed.state === null ? null : await foldFrom(snapshot, request, seed)
  const checks = [snapshotCheck(seed.use, full, seeded)]
  if (query.cutoff === null && profile === 'cp') checks.push(await readModelCheck(snapshot, query, full))
  return {
    checksum: full.result.checksum,
    eventCount: String(full.result.eventCount),
    status: statusOf(full),
    seed: seed.use,
    checks,
  }
}

function snapshotCheck(use: SeedUse, full: FoldedLog, seeded: FoldedLog | null): VerifyCheck {
  const check = 'snapshot' as const
  if (!use.found) return { check, ok: true, skipped: true, detail: 'there is none', pointer: null }
  // Events that came in late are nobody's mistake: such a snapshot is refused and made anew.
  if (use.problem === 'straggler') {
    return { check, ok: true, skipped: true, detail: SEED_PROBLEMS.straggler, pointer: null }
  }
  if (seeded === null) {
    return { check, ok: false, skipped: false, detail: SEED_PROBLEMS[use.problem ?? 'unreadable'], pointer: null }
  }
  const surfaces = SURFACES.filter(
    (surface) => full.result.projectionChecksums[surface] !== seeded.result.projectionChecksums[surface],
  )
  // A `python` document names its seed inside the hash, so only its surfaces can agree.
  const isEqual = surfaces.length === 0 && sameSum(full, seeded)
  const detail = isEqual
    ? `snapshot at event ${use.version} and the ${seeded.eventsRead} events after it give the same state`
    : `continuing the snapshot at event ${use.version} gives another state (${surfaces.join(', ') || 'header'})`
  const first = isEqual ? undefined : contentDifferences(full.result.state, seeded.result.state)[0]
  return { check, ok: isEqual, skipped: false, detail, pointer: first?.pointer ?? null }
}

function sameSum(full: FoldedLog, seeded: FoldedLog): boolean {
  return seeded.result.state['replay_snapshot'] !== undefined || full.result.checksum === seeded.result.checksum
}

async function readModelCheck(snapshot: Snapshot, query: ReplayQuery, full: FoldedLog): Promise<VerifyCheck> {
  const check = 'read model' as const
  const row = await readModel(snapshot.connection, String(query.executionId), snapshot.leftMs())
  if (row === undefined)
    return { check, ok: true, skipped: true, detail: 'the execution has no row yet', pointer: null }
  const execution = full.result.state['execution']
  const folded: Record<string, string | null> = {
    status: statusOf(full),
    last_node_name: isJsonObject(execution) ? textOrNull(execution['last_node_name']) : null,
    last_event_id: full.result.lastEventId === null ? null : String(full.result.lastEventId),
    event_count: String(full.result.eventCount),
  }
  const stored: Record<string, string | null> = { ...row }
  const different = Object.keys(folded).filter((name) => folded[name] !== stored[name])
  const words = different.map(
    (name) => `${name} is ${stored[name] ?? 'empty'}, the events say ${folded[name] ?? 'empty'}`,
  )
  return {
    check,
    ok: different.length === 0,
    skipped: false,
    detail: different.length === 0 ? 'status, step, last event and number of events agree' : words.join('; '),
    pointer: different.length === 0 ? null : `/${different[0]}`,
  }
}

function statusOf({ result }: FoldedLog): string {
  const execution = result.state['execution']
  return isJsonObject(execution) ? (textOrNull(execution['status']) ?? 'UNKNOWN') : 'UNKNOWN'
}

function textOrNull(value: JsonValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value)
}
