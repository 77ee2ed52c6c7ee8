// I4 and I5, execution by execution: the fold of the log in the lab, the live state and the replay of a daemon, the
// stored snapshots plus what came after them, and the read model all say the same.
import type { ExecutionId } from '../src/domain/ids/ids.js'
import { writeJson } from '../src/domain/json/write.js'
import { applyNumbered, emptyLiveState, type LiveState } from '../src/domain/state/liveState.js'
import { viewState } from '../src/domain/state/viewState.js'
import { workflowStatus } from '../src/domain/state/workflowState.js'
import { messageOf } from '../src/errors.js'
import { verifyOn } from '../src/services/replay/inThread/compare.js'
import { onSnapshot, type Snapshot, toWorkerDatabase } from '../src/services/replay/inThread/database.js'
import { wholeLog } from '../src/services/replay/replay.js'
import { verifySnapshot } from '../src/services/state/inThread/verify.js'
import { readTail } from '../src/stores/state/stateStore.js'
import { adminSettings } from '../test/support/adminSql.js'
import type { Violation } from './journal.js'
import type { LabPostgres } from './postgres.js'

export interface Asked {
  /** The live state of an execution, as text. */
  state(executionId: string): Promise<string>
  /** A replay that may start from a snapshot: its document and checksum, and what became of the snapshot. */
  replay(executionId: string): Promise<{ checksum: string; seed: string; text: string }>
}

export interface Agreement {
  executions: number
  snapshots: number
  seeds: number
  /** Of these a daemon was asked, too. */
  replays: number
  violations: Violation[]
}

type Database = Pick<LabPostgres, 'url' | 'db'>

const PAGE = 1_000
const DEADLINE_MS = 3_600_000
const REPLAYS_MAX = 400
const REPLAY_EVERY = 5
const SIDE_BY_SIDE = 6
const DOCUMENT_MAX = 4_000
/** How a status of the read model is called in a live state. */
const LIVE_NAME: Record<string, string> = {
  RUNNING: 'in_progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

export async function judgeAgreement(
  places: readonly { executionId: string; database: Database; status: string }[],
  asked: Asked,
): Promise<Agreement> {
  const agreement: Agreement = { executions: 0, snapshots: 0, seeds: 0, replays: 0, violations: [] }
  const databases = [...new Set(places.map(({ database }) => database))]
  for (const database of databases) {
    const queue = places.filter((place) => place.database === database)
    // Each lane keeps one connection: a login per execution would cost more than the comparison.
    const lane = (): Promise<void> =>
      onSnapshot(workerDatabase(database), DEADLINE_MS, async (view) => {
        for (let place = queue.pop(); place !== undefined; place = queue.pop()) {
          await judgeOne(place.executionId, database, place.status, view, asked, agreement).catch((error: unknown) => {
            agreement.violations.push({
              invariant: 'I4',
              kind: 'disagreement',
              executionId: place!.executionId,
              message: `execution ${place!.executionId} could not be compared: ${messageOf(error)}`,
            })
          })
          agreement.executions += 1
        }
      })
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane))
  }
  return agreement
}

const workerDatabase = (database: Database) => toWorkerDatabase(adminSettings({ databaseUrl: database.url }))

async function judgeOne(
  executionId: string,
  database: Database,
  status: string,
  view: Snapshot,
  asked: Asked,
  agreement: Agreement,
): Promise<void> {
  const differs = (what: string, invariant: 'I4' | 'I5' = 'I4', kind = 'disagreement'): void => {
    agreement.violations.push({ invariant, kind, executionId, message: `execution ${executionId}: ${what}` })
  }
  const folded = await foldLog(database, executionId)
  const expected = writeJson(viewState(folded.state))
  const live = await asked.state(executionId)
  if (live !== expected)
    differs(`the live state is ${excerpt(live, expected)}, the fold of the log is ${excerpt(expected, live)}`)
  const liveStatus = workflowStatus(folded.state)
  if (LIVE_NAME[status] !== undefined && liveStatus !== LIVE_NAME[status])
    differs(`the read model says ${status}, the live state ${liveStatus}`, 'I5')

  const query = wholeLog({ tenantId: 'default', organizationId: 'default' }, executionId)
  const verified = await verifyOn(view, { profile: 'cp', query })
  for (const { check, ok, detail } of verified.checks)
    if (!ok)
      differs(
        `${check}: ${detail}`,
        check === 'snapshot' ? 'I4' : 'I5',
        check === 'snapshot' ? 'forged snapshot' : 'not projected',
      )
  if (verified.seed.found) agreement.seeds += 1
  if (verified.status !== status) differs(`a replay says ${verified.status}, the read model ${status}`, 'I5')
  // A replay by a daemon costs it a login; a good part of the executions is enough to know that it folds as we do.
  if (agreement.replays < REPLAYS_MAX && (verified.seed.found || agreement.executions % REPLAY_EVERY === 0)) {
    agreement.replays += 1
    const replay = await asked.replay(executionId)
    if (replay.checksum !== verified.checksum) {
      // The view of a lane is as old as the lane. What was written since, and that alone, is no difference.
      const now = await onSnapshot(workerDatabase(database), DEADLINE_MS, (fresh) =>
        verifyOn(fresh, { profile: 'cp', query }),
      )
      if (now.eventCount === verified.eventCount || now.checksum !== replay.checksum)
        differs(
          `a replay with snapshot (${replay.seed}) has checksum ${replay.checksum}, a full fold ${verified.checksum} of ${verified.eventCount} events, ${now.checksum} of ${now.eventCount} by now; the replay: ${replay.text.slice(0, DOCUMENT_MAX)}`,
        )
    }
  }

  const snapshot = await verifySnapshot(database.db, executionId)
  if (snapshot.found) agreement.snapshots += 1
  if (!snapshot.ok)
    differs(`the stored state of version ${snapshot.version}: ${snapshot.detail}`, 'I4', 'forged snapshot')
}

/** Every numbered event in order, without any cache. */
async function foldLog({ db }: Database, executionId: string): Promise<LiveState> {
  const live = emptyLiveState(executionId as ExecutionId)
  for (;;) {
    const tail = await readTail(db, executionId, live.version, PAGE)
    if (tail === undefined || tail.events.length === 0) return live
    for (const row of tail.events) applyNumbered(live, row.event, row.version)
  }
}

/** Where two texts part. */
function excerpt(text: string, other: string): string {
  let at = 0
  while (at < text.length && text[at] === other[at]) at += 1
  return `…${text.slice(Math.max(0, at - 60), at + 100)}…`
}
