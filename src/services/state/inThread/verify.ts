// Holds a stored snapshot against the log: its own checks, then the events it claims to contain, one by one by id,
// then the state that a fold of exactly those events gives.

import type { Db } from '../../../db/db.js'
import { noSuchExecution } from '../../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../../domain/ids/ids.js'
import { addToDigest, applyNumbered, digestText, emptyLiveState } from '../../../domain/state/liveState.js'
import { SNAPSHOT_PROBLEMS, type SnapshotProblem } from '../../../domain/state/sealedState.js'
import { serialiseState } from '../../../domain/state/serialiseState.js'
import { loadStateSnapshot } from '../../../stores/state/stateSnapshotStore.js'
import { readEventIds, readTail } from '../../../stores/state/stateStore.js'
import { unpackState } from './snapshotBytes.js'

export interface SnapshotReport {
  found: boolean
  version: string
  head: string
  ok: boolean
  problem: SnapshotProblem | 'state' | undefined
  detail: string
}

const PAGE = 2_000

export async function verifySnapshot(db: Db, executionId: string): Promise<SnapshotReport> {
  const loaded = await loadStateSnapshot(db, executionId)
  if (loaded === undefined) throw noSuchExecution(executionId)
  const { snapshot } = loaded
  const head = String(loaded.head)
  if (snapshot === undefined)
    return { found: false, version: '0', head, ok: true, problem: undefined, detail: 'there is none' }
  const report = { found: true, version: snapshot.version, head }
  const live = await unpackState(snapshot, executionId, loaded.head)
  if (typeof live === 'string') return { ...report, ok: false, problem: live, detail: SNAPSHOT_PROBLEMS[live] }
  const ids = await digestOfLog(db, executionId, live.version)
  if (ids.count !== live.appliedCount) {
    const detail = `it contains ${live.appliedCount} events, the log has ${ids.count} up to its version`
    return { ...report, ok: false, problem: 'count', detail }
  }
  if (ids.digest !== digestText(live.digest)) {
    return { ...report, ok: false, problem: 'digest', detail: SNAPSHOT_PROBLEMS.digest }
  }
  const folded = await foldUpTo(db, executionId, live.version)
  if (serialiseState(folded.state) !== serialiseState(live.state)) {
    return { ...report, ok: false, problem: 'state', detail: 'a fold of the same events gives another state' }
  }
  const detail = `it equals the fold of events 1 to ${live.version}`
  return { ...report, ok: true, problem: undefined, detail }
}

async function digestOfLog(db: Db, executionId: string, version: number): Promise<{ count: number; digest: string }> {
  const digest = { high: 0, low: 0 }
  let count = 0
  for (let after = 0; ; ) {
    const rows = await readEventIds(db, executionId, { after, upTo: version, limit: PAGE })
    for (const row of rows) addToDigest(digest, row.eventId)
    count += rows.length
    if (rows.length < PAGE) return { count, digest: digestText(digest) }
    after = rows[rows.length - 1]!.version
  }
}

async function foldUpTo(db: Db, executionId: string, version: number) {
  const live = emptyLiveState(executionId as ExecutionId)
  while (live.version < version) {
    const tail = await readTail(db, executionId, live.version, Math.min(PAGE, version - live.version))
    if (tail === undefined || tail.events.length === 0) break
    for (const row of tail.events) applyNumbered(live, row.event, row.version)
  }
  return live
}
