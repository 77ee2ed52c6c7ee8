// The live states of one thread. The main thread asks for one thing at a time per execution; different executions
// overlap while they wait for the database. A state that is not here is built from its snapshot and the events after
// it, or from the whole log; so nothing is lost with the thread.

import type { Db } from '../../../db/db.js'
import { isTerminalStatus, noSuchExecution } from '../../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../../domain/ids/ids.js'
import type { Keyring } from '../../../domain/secrets/keyring.js'
import { applyNumbered, emptyLiveState, type LiveState } from '../../../domain/state/liveState.js'
import { type OpenWork, openWork } from '../../../domain/state/openWork.js'
import type { Needing, NewEvent, Orchestrator } from '../../../domain/state/orchestrator.js'
import { isTerminal } from '../../../domain/state/workflowState.js'
import { CpError, isTransient } from '../../../errors.js'
import {
  deleteStateSnapshot,
  discardStateSnapshot,
  loadStateSnapshot,
  saveStateSnapshot,
} from '../../../stores/state/stateSnapshotStore.js'
import { forgetDecisions, hasSealed } from '../../../stores/state/stateStore.js'
import type { HandedPart, TailEvent } from '../../../stores/state/tailEvent.js'
import { type Advanced, NOWHERE } from './advanced.js'
import { followingEvents } from './followingEvents.js'
import { type AheadRequest, goAhead } from './goAhead.js'
import { KnownValues } from './knownValues.js'

import { applyOpened, buildOpened } from './openedState.js'
import { type Asked, questionOf } from './question.js'
import type { Resident } from './resident.js'
import { packState, unpackState } from './snapshotBytes.js'
import { createTailReader, type TailReader } from './tailReader.js'
import { emptyTally, type Tally } from './tally.js'

export interface ResidentSettings {
  page: number
  snapshotEvents: number
  snapshotAtEnd: 'remove' | 'keep'
  queryTimeoutMs: number
}

export interface AdvanceRequest extends Asked {
  /** Whether this process decides for the execution; otherwise the state is only looked at. */
  drive: boolean
  /** All that was appended since the last question; undefined: the log has to be read. */
  handed?: readonly HandedPart[] | undefined
}

const NEW_EVENTS_MAX = 1_000
// A catch-up of this length is not to be repeated from its start after a crash.
const CATCH_UP_EVENTS_MAX = 50_000
const SAVE_DEADLINE_FACTOR = 4

export interface Residents {
  /** By events that the log does not hold yet: whoever asks drops the state if they are not committed. Undefined: not taken. */
  goAhead(request: AheadRequest): Advanced | undefined
  advance(db: Db, request: AdvanceRequest): Promise<Advanced>
  get(executionId: string): Resident | undefined
  /** What the execution waits for, or the values that are missing to tell. */
  explain(request: AdvanceRequest): OpenWork[] | Needing
  /** Writes a snapshot of the state at this version, which is committed. One that is elsewhere by now is saved later. */
  save(db: Db, executionId: string, version: number): Promise<void>
  /** Writes what is not yet saved and lets go. */
  evict(db: Db, executionId: string): Promise<void>
  /** Folds the whole log, whatever snapshot there is, and writes a new one. Answers its version. */
  rebuild(db: Db, executionId: string): Promise<number>
  /** Lets go without writing. */
  drop(executionId: string): void
  takeTally(): Tally
}

export function createResidents(settings: ResidentSettings, orchestrator: Orchestrator, keyring: Keyring): Residents {
  const residents = new Map<string, Resident>()
  const values = new KnownValues()
  const tails = new WeakMap<Db, TailReader>()
  let tally = emptyTally()

  function tailsOf(db: Db): TailReader {
    const known = tails.get(db) ?? createTailReader(db, settings.page)
    tails.set(db, known)
    return known
  }

  /** From its snapshot, or empty; `ended` when it ended and nobody wants to look at it. */
  async function load(
    db: Db,
    { executionId, drive }: Pick<AdvanceRequest, 'executionId' | 'drive'>,
  ): Promise<Resident | Absent> {
    const loaded = await loadStateSnapshot(db, executionId)
    if (loaded === undefined) return { absent: 'unknown', head: 0 }
    const { key, snapshot, head } = loaded
    const isSaved = settings.snapshotAtEnd === 'remove' || Number(snapshot?.version) === head
    if (drive && isTerminalStatus(loaded.status) && isSaved) {
      await atEnd(db, executionId)
      return { absent: 'ended', head }
    }
    let live = emptyLiveState(executionId as ExecutionId)
    if (snapshot !== undefined) {
      const unpacked = await unpackState(snapshot, executionId, head)
      if (typeof unpacked === 'string') {
        tally.rejected.push({ reason: unpacked, executionId, version: Number(snapshot.version) })
        // One of other rules may be wanted by its writer; every other kind of damage only repeats itself.
        if (unpacked !== 'fold_version') await discardStateSnapshot(db, key, snapshot.row_version)
      } else {
        live = unpacked
      }
    }
    tally.rebuilds[live.version === 0 ? 'log' : 'snapshot'] += 1
    const resident = {
      live,
      mark: undefined,
      key,
      snapshotVersion: live.version,
      saving: undefined,
      driven: false,
      // A state that starts empty sees every event.
      hasSealed: live.version === 0 ? false : undefined,
      opened: undefined,
      engine: loaded.engine,
    }
    return resident
  }

  function take(resident: Resident, row: TailEvent, newEvents: NewEvent[]): void {
    const { event, version, sealed } = row
    applyNumbered(resident.live, event, version)
    resident.mark = event.eventId
    if (sealed !== undefined) resident.hasSealed = true
    if (resident.opened !== undefined) applyOpened(resident.opened, row, keyring)
    newEvents.push({ eventId: event.eventId, eventType: event.eventType, nodeName: event.nodeName })
  }

  async function catchUp(db: Db, resident: Resident, newEvents: NewEvent[], drive: boolean): Promise<CaughtUp> {
    const { live, key } = resident
    let applied = 0
    for (;;) {
      const tail = await tailsOf(db).read(key.executionId, live.version)
      if (tail === undefined || tail.head < live.version) {
        throw new CpError('corrupt', `the log of execution ${key.executionId} is shorter than its state`)
      }
      // A failover may lose commits, and others may have taken their numbers since.
      if (tail.mark !== (resident.mark ?? tail.mark)) {
        throw new CpError('corrupt', `the log of execution ${key.executionId} is not the one its state was made from`)
      }
      resident.mark = tail.mark
      // One that nobody drove may have been adopted since.
      resident.engine = tail.engine
      for (const row of tail.events) take(resident, row, newEvents)
      if (newEvents.length > 2 * NEW_EVENTS_MAX) newEvents.splice(0, newEvents.length - NEW_EVENTS_MAX)
      applied += tail.events.length
      if (tail.isWhole) return { applied, unadopted: tail.unadopted }
      if (drive && live.version - resident.snapshotVersion >= CATCH_UP_EVENTS_MAX) await save(db, resident)
    }
  }

  /** A state that does not fit the log is not repaired but made anew, once. */
  async function advanceOrRebuild(db: Db, request: AdvanceRequest, newEvents: NewEvent[]): Promise<Progress> {
    const known = residents.get(request.executionId)
    const resident = known ?? (await load(db, request))
    if ('absent' in resident) return resident
    residents.set(request.executionId, resident)
    try {
      const events =
        known === undefined
          ? undefined
          : followingEvents(request.executionId, { version: known.live.version, mark: known.mark }, request.handed)
      if (events !== undefined) {
        for (const event of events) take(resident, event, newEvents)
        return { resident, isNew: false, applied: events.length, unadopted: false }
      }
      const caughtUp = await catchUp(db, resident, newEvents, request.drive)
      return { resident, isNew: known === undefined, ...caughtUp }
    } catch (error) {
      if (isTransient(error)) throw error
      // What is in memory must always be a whole prefix of the log.
      residents.delete(request.executionId)
      const startedAtZero = known === undefined && resident.snapshotVersion === 0
      if (!(error instanceof CpError && error.code === 'corrupt') || startedAtZero) throw error
      await resident.saving
      const { executionId } = request
      tally.rejected.push({ reason: 'future', executionId, version: resident.snapshotVersion })
      await deleteStateSnapshot(db, request.executionId)
      newEvents.length = 0
      return advanceOrRebuild(db, request, newEvents)
    }
  }

  async function advance(db: Db, request: AdvanceRequest): Promise<Advanced> {
    const { executionId, drive } = request
    const newEvents: NewEvent[] = []
    const progress = await advanceOrRebuild(db, request, newEvents)
    if ('absent' in progress) {
      if (progress.absent === 'unknown') return { ...NOWHERE, found: false, unadopted: true }
      return { ...NOWHERE, version: progress.head, terminal: true }
    }
    const { resident, applied, unadopted, isNew } = progress
    const { live } = resident
    resident.driven ||= drive
    const bytes = live.state.bytes + (resident.opened?.state.bytes ?? 0)
    const isDriven = orchestrator.drives?.(resident.engine) ?? true
    const answer = { ...NOWHERE, unadopted, version: live.version, applied, bytes, isDriven }
    if (unadopted) return { ...answer, resident: true }
    if (isTerminal(live.state)) {
      if (!drive) return { ...answer, terminal: true, resident: true }
      if (settings.snapshotAtEnd === 'keep') await save(db, resident)
      await resident.saving
      await atEnd(db, executionId)
      residents.delete(executionId)
      return { ...answer, terminal: true }
    }
    if (!drive) return { ...answer, resident: true }
    // Not waited for: the text is fixed at once, and the next event should not wait for the database. One that waited for another
    // could find the state ahead of its log.
    if (isSaveDue(resident) && resident.saving === undefined) void save(db, resident)
    // Although nothing may be new: somebody who only looked may have seen it first, and deadlines come without events.
    if (!isDriven) return { ...answer, resident: true }
    const whole = { live: await openedOf(db, resident), engine: resident.engine }
    const verdict = orchestrator.decide(
      questionOf(whole, request, isNew ? [] : newEvents.slice(-NEW_EVENTS_MAX), values),
    )
    return { ...answer, resident: true, verdict }
  }

  /** What decisions are made from. */
  async function openedOf(db: Db, resident: Resident): Promise<LiveState> {
    const { live, key } = resident
    if (resident.engine === undefined) return live
    resident.hasSealed ??= await hasSealed(db, key.executionId)
    if (!resident.hasSealed) return live
    resident.opened ??= await buildOpened(db, key.executionId, keyring, { page: settings.page, upTo: live.version })
    return resident.opened ?? live
  }

  async function atEnd(db: Db, executionId: string): Promise<void> {
    if (settings.snapshotAtEnd === 'remove') await deleteStateSnapshot(db, executionId)
    await forgetDecisions(db, executionId)
  }

  const isSaveDue = ({ live, snapshotVersion }: Resident): boolean =>
    live.version - snapshotVersion >= settings.snapshotEvents

  async function save(db: Db, resident: Resident): Promise<void> {
    await resident.saving
    const { version } = resident.live
    if (version <= resident.snapshotVersion) return
    // Set before the writing ends, so that a slow or failing database is not asked again by every event.
    resident.snapshotVersion = version
    const fromMs = epochMs()
    const told = (ok: boolean): void => {
      tally.saves.push({ executionId: resident.live.state.executionId, version, fromMs, toMs: epochMs(), ok })
    }
    const writing = packState(resident.live, resident.key)
      .then((snapshot) => saveStateSnapshot(db, snapshot, settings.queryTimeoutMs * SAVE_DEADLINE_FACTOR))
      .then(
        () => {
          tally.snapshots += 1
          told(true)
        },
        () => {
          // A snapshot only saves time; the log has everything, and the next one is due soon.
          tally.snapshotErrors += 1
          told(false)
        },
      )
      .finally(() => {
        if (resident.saving === writing) resident.saving = undefined
      })
    resident.saving = writing
    await writing
  }

  return {
    goAhead: (request) => {
      const resident = residents.get(request.executionId)
      if (resident === undefined) return undefined
      try {
        const ahead = goAhead(resident, request, { orchestrator, values }, take)
        return ahead && { ...ahead, isSaveDue: isSaveDue(resident) }
      } catch (error) {
        residents.delete(request.executionId)
        throw error
      }
    },
    advance,
    get: (executionId) => residents.get(executionId),
    explain: (request) => {
      const resident = residents.get(request.executionId)
      if (resident === undefined) return []
      return orchestrator.explain?.(questionOf(resident, request, [], values)) ?? openWork(resident.live.state)
    },
    save: async (db, executionId, version) => {
      const resident = residents.get(executionId)
      // While one is being written the state may go ahead of its log, and what is not committed is never saved.
      if (resident?.live.version === version && resident.saving === undefined) await save(db, resident)
    },
    evict: async (db, executionId) => {
      const resident = residents.get(executionId)
      if (resident === undefined) return
      if (resident.driven && !isTerminal(resident.live.state)) await save(db, resident)
      await resident.saving
      residents.delete(executionId)
    },
    // Beside the state that may be held here, and in whatever thread: that one goes on by itself.
    rebuild: async (db, executionId) => {
      await residents.get(executionId)?.saving
      await deleteStateSnapshot(db, executionId)
      const resident = await load(db, { executionId, drive: false })
      if ('absent' in resident) throw noSuchExecution(executionId)
      await catchUp(db, resident, [], false)
      await save(db, resident)
      return resident.live.version
    },
    drop: (executionId) => {
      residents.delete(executionId)
    },
    takeTally: () => {
      const taken = tally
      tally = emptyTally()
      return taken
    },
  }
}

interface CaughtUp {
  applied: number
  unadopted: boolean
}

interface Absent {
  absent: 'unknown' | 'ended'
  /** The last version of its log. */
  head: number
}

type Progress = Absent | (CaughtUp & { resident: Resident; isNew: boolean })

function epochMs(): number {
  return performance.timeOrigin + performance.now()
}
