// Does every account of an execution agree: the folds of the three generations, the row of the read model, the stored snapshots?
// All of them on one view of the log. Differences are found here and explained nowhere: docs/replay.md lists those by design.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { withoutSecrets } from '../../../domain/replay/answer.js'
import type { Difference } from '../../../domain/replay/diff.js'
import { parityDifferences } from '../../../domain/replay/parity.js'
import type { FoldProfile } from '../../../domain/replay/profile.js'
import type { ReplayQuery } from '../../../domain/replay/replayQuery.js'
import { SEED_PROBLEMS } from '../../../domain/replay/replaySeed.js'
import { REGISTRY_DIGEST } from '../../../domain/replay/schemaLabel.js'
import { readModel } from '../../../stores/replay/replayStore.js'
import { onSnapshot, type Snapshot, type WorkerDatabase } from './database.js'
import { foldFrom } from './foldLog.js'
import { findSeed, NO_SEED } from './seed.js'

export interface ParityInput {
  database: WorkerDatabase
  deadlineMs: number
  query: ReplayQuery
  secretNames: readonly string[] | null
  progress?: SharedArrayBuffer
}

export interface ParityComparison {
  /** What is held against what: `cp`, `python`, `server`, `read model`, `snapshot`. */
  from: string
  to: string
  count: number
  /** JSON text of the list of differences, cut. */
  differences: string
  /** Why there was nothing to compare. */
  skipped: string | null
}

export interface ParityOutput {
  eventCount: string
  eventsRead: number
  comparisons: ParityComparison[]
}

const DIFFERENCES_MAX = 1_000

export function replayParity(input: ParityInput): Promise<ParityOutput> {
  return onSnapshot(input.database, input.deadlineMs, (snapshot) => compareAll(snapshot, input))
}

async function compareAll(snapshot: Snapshot, input: ParityInput): Promise<ParityOutput> {
  const { query } = input
  const fold = async (profile: FoldProfile, seed = NO_SEED) => foldFrom(snapshot, requestOf(input, profile), seed)
  const cp = await fold('cp')
  const comparisons: ParityComparison[] = []
  const compare = (from: string, to: string, left: JsonObject, right: JsonObject) => {
    const shown = (state: JsonObject) => (input.secretNames === null ? state : withoutSecrets(state, input.secretNames))
    comparisons.push(comparison(from, to, parityDifferences(shown(left), shown(right))))
  }
  const python = await fold('python')
  compare('cp', 'python', cp.result.state, python.result.state)
  compare('cp', 'server', cp.result.state, (await fold('server')).result.state)

  const row = await readModel(snapshot.connection, String(query.executionId), snapshot.leftMs())
  if (row === undefined) comparisons.push(skipped('cp', 'read model', 'the execution has no row yet'))
  else {
    const { status, last_node_name, last_event_id, event_count } = row
    const stored: JsonObject = { status, last_node_name, last_event_id, event_count }
    compare('cp', 'read model', headOf(cp.result.state), stored)
  }
  for (const [profile, full] of [
    ['cp', cp],
    ['python', python],
  ] as const) {
    const name = profile === 'cp' ? 'snapshot' : 'snapshot of the NoETL server'
    const seed = await findSeed(snapshot, profile, query, REGISTRY_DIGEST)
    if (!seed.use.found) comparisons.push(skipped(profile, name, 'there is none'))
    else if (seed.state === null) {
      const why = SEED_PROBLEMS[seed.use.problem ?? 'unreadable']
      comparisons.push(skipped(profile, name, `it is not believed: ${why}`))
    } else {
      compare(profile, name, full.result.state, (await fold(profile, seed)).result.state)
    }
  }
  return { eventCount: String(cp.result.eventCount), eventsRead: cp.eventsRead, comparisons }
}

function requestOf({ query, progress }: ParityInput, profile: FoldProfile) {
  return { profile, query, fromSnapshot: false, ...(progress === undefined ? {} : { progress }) }
}

/** The part of a state that the read model keeps, in its words. */
function headOf(state: JsonObject): JsonObject {
  const execution = isJsonObject(state['execution']) ? state['execution'] : {}
  const text = (value: JsonValue | undefined) => (value === null || value === undefined ? null : String(value))
  return {
    status: execution['status'] ?? null,
    last_node_name: text(execution['last_node_name']),
    last_event_id: text(state['last_event_id']),
    event_count: text(state['event_count']),
  }
}

function comparison(from: string, to: string, differences: readonly Difference[]): ParityComparison {
  const text = writeJson(differences.slice(0, DIFFERENCES_MAX) as unknown as JsonValue)
  return { from, to, count: differences.length, differences: text, skipped: null }
}

function skipped(from: string, to: string, reason: string): ParityComparison {
  return { from, to, count: 0, differences: '[]', skipped: reason }
}
