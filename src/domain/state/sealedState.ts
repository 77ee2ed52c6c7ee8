// A live state as one text that proves itself: a first line that says what the state contains, then the state. The
// checksum is over all of it. Whatever is wrong with a stored one has a name, and every name means the same: fold
// the log again.

import { CpError } from '../../errors.js'
import { canonicalJson, sha256Hex } from '../json/canonical.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { digestText, type LiveState, parseDigest } from './liveState.js'
import { parseState, serialiseState } from './serialiseState.js'
import { FOLD_VERSION } from './workflowState.js'

/** Beside those of the NoETL server (`orchestrator_workflow_state`), which are not ours to change. */
export const STATE_SNAPSHOT_TYPE = 'cp_workflow_state'

export const SNAPSHOT_PROBLEMS = {
  format: 'it was not written by this program',
  unreadable: 'its bytes cannot be read',
  checksum: 'its checksum does not fit its bytes',
  fold_version: 'it was folded by other rules',
  foreign: 'it belongs to another execution',
  version: 'its version differs from the one inside',
  future: 'it is ahead of the log',
  count: 'the number of events in it does not fit its version',
  digest: 'the events in it are not those it names',
} as const

export type SnapshotProblem = keyof typeof SNAPSHOT_PROBLEMS

/** Canonical text, so ASCII: one byte per character. */
export function sealState(live: LiveState): string {
  const header = canonicalJson({
    applied_count: live.appliedCount,
    digest: digestText(live.digest),
    execution_id: live.state.executionId,
    fold_version: FOLD_VERSION,
    routing: live.routing === undefined ? null : [live.routing.id, parseJson(live.routing.value)],
    version: live.version,
  })
  return `${header}\n${serialiseState(live.state)}`
}

/** What is stored beside the bytes. */
export interface SealFacts {
  executionId: string
  version: string
  checksum: string
  meta: JsonValue
  /** The last version of the log; undefined when it is not to be compared. */
  headVersion: number | undefined
}

/** The state, or the first thing that is wrong with it. */
export function openSealed(bytes: Uint8Array, facts: SealFacts): LiveState | SnapshotProblem {
  const meta = isJsonObject(facts.meta) ? facts.meta : {}
  if (meta['fold_version'] !== FOLD_VERSION) return 'fold_version'
  if (sha256Hex(bytes) !== facts.checksum) return 'checksum'
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const end = text.indexOf('\n')
    const header = parseJson(text.slice(0, end))
    if (end < 0 || !isJsonObject(header)) return 'unreadable'
    return fromHeader(header, text.slice(end + 1), facts, meta)
  } catch (error) {
    if (error instanceof CpError) return 'unreadable'
    throw error
  }
}

function fromHeader(header: JsonObject, text: string, facts: SealFacts, meta: JsonObject): LiveState | SnapshotProblem {
  if (header['fold_version'] !== FOLD_VERSION) return 'fold_version'
  if (header['execution_id'] !== facts.executionId) return 'foreign'
  const { version, applied_count: appliedCount } = header
  if (typeof version !== 'number' || String(version) !== facts.version) return 'version'
  if (facts.headVersion !== undefined && version > facts.headVersion) return 'future'
  // Versions have no gaps, so a state that contains all up to one contains exactly so many.
  if (appliedCount !== version || meta['applied_count'] !== appliedCount) return 'count'
  const digest = parseDigest(header['digest'])
  if (digest === undefined || meta['digest'] !== header['digest']) return 'digest'
  const state = parseState(text)
  if (state.executionId !== facts.executionId) return 'foreign'
  const live: LiveState = { state, version, appliedCount, digest }
  const { routing } = header
  if (Array.isArray(routing)) live.routing = { id: String(routing[0]), value: canonicalJson(routing[1] ?? null) }
  return live
}
