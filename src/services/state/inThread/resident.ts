// A live state as its thread holds it.
import type { LiveState } from '../../../domain/state/liveState.js'
import type { SnapshotKey } from '../../../stores/state/stateSnapshotStore.js'

export interface Resident {
  live: LiveState
  /** The event that the state's version is the number of; undefined until the log was read once. */
  mark: string | undefined
  key: SnapshotKey
  /** Version of the newest snapshot written or read; 0 without one. */
  snapshotVersion: number
  saving: Promise<void> | undefined
  /** This process decided for it; snapshots are the business of whoever does. */
  driven: boolean
  /** Events of it have sealed values; undefined: nobody has looked. */
  hasSealed: boolean | undefined
  /** With the secrets in their places; only while it is driven and has some. */
  opened: LiveState | undefined
  /** The version of the engine that drives it; undefined when nobody does. */
  engine: number | undefined
}
