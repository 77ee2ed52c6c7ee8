// A workflow state together with the exact statement of what it contains: every event of the log up to `version`,
// no other, each once. Versions are dense per execution, so a contiguous walk proves it; the digest says which
// events those were, whatever order they came in.

import { CpError } from '../../errors.js'
import { isStartEventType } from '../events/eventType.js'
import { compareIds, type ExecutionId } from '../ids/ids.js'
import { canonicalJson } from '../json/canonical.js'
import { xxh64Halves } from '../shards/xxh64.js'
import { applyEvent } from './applyEvent.js'
import type { WorkflowEvent } from './workflowEvent.js'
import { emptyState, type Register, type WorkflowState } from './workflowState.js'

/** A sum of hashed event ids in two halves: adding in any order gives the same. */
export interface IdDigest {
  high: number
  low: number
}

export interface LiveState {
  state: WorkflowState
  /** The highest version applied; everything below it is applied too. */
  version: number
  appliedCount: number
  digest: IdDigest
  /** Meta of the start event, as canonical text: where the commands of the execution go. */
  routing?: Register<string>
}

export function emptyLiveState(executionId: ExecutionId): LiveState {
  return { state: emptyState(executionId), version: 0, appliedCount: 0, digest: { high: 0, low: 0 } }
}

/** Takes the event with the next version; any other means that the log is not what it promises to be. */
export function applyNumbered(live: LiveState, event: WorkflowEvent, version: number): boolean {
  if (version !== live.version + 1) {
    throw new CpError(
      'corrupt',
      `execution ${event.executionId} has no event with version ${live.version + 1}; the next one is ${version} (event ${event.eventId})`,
      { details: { execution_id: event.executionId, expected: live.version + 1, found: version } },
    )
  }
  const changed = applyEvent(live.state, event)
  live.version = version
  live.appliedCount += 1
  addToDigest(live.digest, event.eventId)
  if (event.meta !== undefined && isStartEventType(event.eventType)) keepRouting(live, event)
  return changed
}

export function addToDigest(digest: IdDigest, eventId: string): void {
  const [high, low] = xxh64Halves(eventId)
  const sum = digest.low + low
  digest.low = sum >>> 0
  digest.high = (digest.high + high + (sum > 0xffff_ffff ? 1 : 0)) >>> 0
}

export function digestText({ high, low }: IdDigest): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}

export function parseDigest(text: unknown): IdDigest | undefined {
  if (typeof text !== 'string' || !/^[0-9a-f]{16}$/.test(text)) return undefined
  return { high: Number.parseInt(text.slice(0, 8), 16), low: Number.parseInt(text.slice(8), 16) }
}

/** The first start event counts, however late it comes. */
function keepRouting(live: LiveState, event: WorkflowEvent): void {
  if (live.routing !== undefined && compareIds(event.eventId, live.routing.id) >= 0) return
  live.routing = { id: event.eventId, value: canonicalJson(event.meta ?? null) }
}
