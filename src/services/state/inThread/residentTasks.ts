// What a resident thread can be asked for. Answers are small and plain; documents go as bytes that change hands.
import { pathToFileURL } from 'node:url'
import type { Db } from '../../../db/db.js'
import { createPool } from '../../../db/pool.js'
import type { EngineSettings } from '../../../domain/engine/settings.js'
import type { JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { createKeyring } from '../../../domain/secrets/keyring.js'
import { redact } from '../../../domain/secrets/redact.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'
import { digestText, type LiveState } from '../../../domain/state/liveState.js'
import type { OpenWork } from '../../../domain/state/openWork.js'
import { nothingToDo, type Orchestrator } from '../../../domain/state/orchestrator.js'
import { sealState } from '../../../domain/state/sealedState.js'
import { viewState } from '../../../domain/state/viewState.js'
import { openSettings, type WorkerDatabase } from '../../replay/inThread/database.js'
import type { Advanced } from './advanced.js'
import { createEngine } from './engine.js'
import type { AheadRequest } from './goAhead.js'
import { type AdvanceRequest, createResidents, type ResidentSettings } from './residents.js'
import { type SentVerdict, sendVerdict } from './sentVerdict.js'
import { readStepData, type StepDataText } from './stepData.js'
import type { Tally } from './tally.js'
import { type SnapshotReport, verifySnapshot } from './verify.js'

/** Given to the thread when it starts. */
export interface ResidentSetup extends ResidentSettings {
  /** By shard. */
  databases: readonly WorkerDatabase[]
  connectionsMax: number
  /** Further names of secrets, which are hidden in documents for people; null hides nothing. */
  secretNames: readonly string[] | null
  /** They open what was sealed in events, for decisions. */
  secretKeys?: readonly string[]
  /** Undefined: nothing is decided here. */
  engine?: EngineSettings | undefined
  /** Path of a module whose default export is an Orchestrator, in place of the engine; for tests. */
  orchestrator?: string
}

interface Target {
  shard: number
  executionId: string
}

export interface AdvanceInput extends Target, AdvanceRequest {
  /** Documents wanted of the state that results. */
  wants: { view: boolean; open: boolean; sealed: boolean }
}

export interface AdvanceOutput extends Omit<Advanced, 'verdict'> {
  verdict: SentVerdict | undefined
  tally: Tally
  digest: string
  /** The WorkflowState document as JSON text in UTF-8. */
  view: Uint8Array | undefined
  open: OpenWork[] | undefined
  /** The canonical text of the state; tests compare it with a full fold. */
  sealed: Uint8Array | undefined
}

export type AheadOutput = Omit<Advanced, 'verdict'> & { verdict: SentVerdict | undefined }

export interface ResidentTasks {
  /** Undefined: the state does not go on by these events. */
  goAhead(input: AheadRequest): Promise<AheadOutput | undefined>
  advance(input: AdvanceInput): Promise<AdvanceOutput>
  /** Writes a snapshot, if the state is still the committed one of this version. */
  save(input: Target & { version: number }): Promise<{ tally: Tally }>
  /** Saves what is not saved yet and lets go of it. */
  evict(input: Target): Promise<{ tally: Tally }>
  drop(input: { executionIds: readonly string[] }): Promise<Record<string, never>>
  verify(input: Target): Promise<SnapshotReport>
  rebuild(input: Target): Promise<{ version: number; tally: Tally }>
  stepData(input: Target & { step: string }): Promise<StepDataText>
}

const encoder = new TextEncoder()

export async function openResidents(setup: ResidentSetup): Promise<ResidentTasks> {
  const keyring = createKeyring(setup.secretKeys ?? [])
  const residents = createResidents(setup, await loadOrchestrator(setup), keyring)
  const opened = new Map<number, Db>()
  const databaseOf = (shard: number): Db => {
    let db = opened.get(shard)
    if (db === undefined) {
      db = createPool({
        ...openSettings(setup.databases[shard]!),
        max: setup.connectionsMax,
        acquireTimeoutMs: setup.queryTimeoutMs,
        queryTimeoutMs: setup.queryTimeoutMs,
      })
      opened.set(shard, db)
    }
    return db
  }

  const rules = setup.secretNames === null ? null : secretRules(setup.secretNames)
  const shown = (view: JsonValue): JsonValue => (rules === null ? view : redact(view, rules))

  return {
    goAhead: async (request) => {
      const ahead = residents.goAhead(request)
      return ahead && { ...ahead, verdict: sendVerdict(ahead.verdict) }
    },
    advance: async ({ shard, wants, ...request }) => {
      const advanced = await residents.advance(databaseOf(shard), request)
      const isWhole = advanced.resident && !advanced.unadopted
      const open = wants.open && isWhole ? residents.explain(request) : undefined
      const isMissing = open !== undefined && 'needs' in open
      return {
        ...advanced,
        ...documents(isWhole ? residents.get(request.executionId)?.live : undefined, wants, shown),
        // What a decision needs comes first: with it the same question is asked again.
        verdict: sendVerdict(advanced.verdict ?? (isMissing ? open : undefined)),
        open: isMissing ? undefined : open,
        tally: residents.takeTally(),
      }
    },
    save: async ({ shard, executionId, version }) => {
      await residents.save(databaseOf(shard), executionId, version)
      return { tally: residents.takeTally() }
    },
    evict: async ({ shard, executionId }) => {
      await residents.evict(databaseOf(shard), executionId)
      return { tally: residents.takeTally() }
    },
    drop: async ({ executionIds }) => {
      for (const executionId of executionIds) residents.drop(executionId)
      return {}
    },
    stepData: ({ shard, executionId, step }) => readStepData(databaseOf(shard), executionId, step, keyring),
    verify: ({ shard, executionId }) => verifySnapshot(databaseOf(shard), executionId),
    rebuild: async ({ shard, executionId }) => {
      const version = await residents.rebuild(databaseOf(shard), executionId)
      return { version, tally: residents.takeTally() }
    },
  }
}

async function loadOrchestrator({ engine, orchestrator: path }: ResidentSetup): Promise<Orchestrator> {
  if (path === undefined) return engine === undefined ? nothingToDo : createEngine(engine)
  const module = (await import(pathToFileURL(path).href)) as { default: Orchestrator }
  return module.default
}

function documents(
  live: LiveState | undefined,
  wants: AdvanceInput['wants'],
  shown: (view: JsonValue) => JsonValue,
): Pick<AdvanceOutput, 'view' | 'sealed' | 'digest'> {
  if (live === undefined) return { view: undefined, sealed: undefined, digest: '' }
  return {
    digest: digestText(live.digest),
    view: wants.view ? encoder.encode(writeJson(shown(viewState(live.state)))) : undefined,
    sealed: wants.sealed ? encoder.encode(sealState(live)) : undefined,
  }
}
