// A stored snapshot as GET /api/snapshots has it, and what operators have the daemon do about one.
import { get, send } from '../../lib/api'
import { counted } from '../../lib/counted'

export interface Snapshot {
  shard: number
  type: string
  name: string
  version: string
  /** Events since; of live states. */
  behind: string | null
  checksum: string
  stored_bytes: number | null
  updated_at: string
  /** Null: the execution is gone. */
  execution_status: string | null
  /** Its log has a lifecycle, and no status of an execution. */
  is_subscription: boolean
  meta: { event_count?: number }
}

export interface SnapshotPage {
  snapshots: Snapshot[]
  next_after: string | null
  failed_shards: number[]
}

/** The words of the filter, and what is shown for them. */
export const TYPES = { state: 'live state', replay: 'replay' } as const
const TYPE_NAMES: Readonly<Record<string, keyof typeof TYPES>> = {
  cp_workflow_state: 'state',
  cp_replay_state: 'replay',
}

/** Undefined: somebody else's. */
export function typeOf({ type }: Snapshot): keyof typeof TYPES | undefined {
  return TYPE_NAMES[type]
}

export function keyOf({ shard, type, name }: Snapshot): string {
  return `${shard} ${type} ${name}`
}

export function executionOf({ name }: Snapshot): string | undefined {
  return /^(?:execution\/)?(\d{1,19})(?:\/|$)/.exec(name)?.[1]
}

export interface Outcome {
  isGood: boolean
  text: string
}

export interface Work {
  name: string
  meaning: string
  run: (executionId: string) => Promise<Outcome>
}

const pathOf = (id: string, word: string): string => `/api/internal/snapshots/${encodeURIComponent(id)}/${word}`

export const VERIFY: Work = {
  name: 'Verify',
  meaning: 'Holds the snapshot of the live state against the log; nothing is changed',
  run: async (id) => {
    const said = await send<{ found: boolean; ok: boolean; version: string; head: string; detail: string }>(
      'POST',
      pathOf(id, 'verify'),
    )
    if (!said.found) return { isGood: false, text: 'no snapshot of its live state is stored' }
    const place = `version ${said.version} of ${said.head}`
    return { isGood: said.ok, text: `${place}: ${said.detail}` }
  },
}

export const VERIFY_REPLAY: Work = {
  name: 'Verify',
  meaning: 'Holds the snapshot, and the events after it, against a fold of the whole log; nothing is changed',
  run: async (id) => {
    const { checks } = await get<{ checks: { check: string; ok: boolean; detail: string }[] }>(
      `/api/replay/verify/${encodeURIComponent(id)}`,
    )
    const { ok, detail } = checks.find(({ check }) => check === 'snapshot')!
    return { isGood: ok, text: detail }
  },
}

export const REBUILD: Work = {
  name: 'Rebuild',
  meaning: 'Folds the whole log anew and stores that as the snapshot of the live state',
  run: async (id) => {
    const { version } = await send<{ version: number }>('POST', pathOf(id, 'rebuild'))
    return { isGood: true, text: `rebuilt from the log, version ${version}` }
  },
}

export const TAKE: Work = {
  name: 'Take',
  meaning: 'Stores the state for later replays to start from',
  run: async (id) => {
    const said = await send<{ event_count: string; checksum: string; stored: boolean }>('POST', pathOf(id, 'take'))
    const what = `${counted(Number(said.event_count), 'event')}, checksum ${said.checksum.slice(0, 8)}`
    return { isGood: true, text: said.stored ? `taken: ${what}` : `the stored one is as new: ${what}` }
  },
}
