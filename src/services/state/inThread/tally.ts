// What a thread of live states reports beside its answers: snapshots written, used and rejected.
import type { SnapshotProblem } from '../../../domain/state/sealedState.js'

/** When a snapshot was written, in milliseconds of the epoch: threads do not share the other clock. */
export interface Save {
  executionId: string
  version: number
  fromMs: number
  toMs: number
  ok: boolean
}

/** What happened beside the answers, since it was last asked for. */
export interface Tally {
  snapshots: number
  snapshotErrors: number
  saves: Save[]
  rebuilds: { snapshot: number; log: number }
  rejected: RejectedSnapshot[]
}

export interface RejectedSnapshot {
  reason: SnapshotProblem
  executionId: string
  version: number
}

export function emptyTally(): Tally {
  return { snapshots: 0, snapshotErrors: 0, saves: [], rebuilds: { snapshot: 0, log: 0 }, rejected: [] }
}
