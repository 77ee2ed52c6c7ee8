// Does what a playbook, or the setting, wants when an execution has failed: starts a playbook or calls an address, at least
// once, recorded in a row beside the execution, with bounded attempts. What such a playbook itself fails of is not told
// again, and what belongs to another execution is told by that one, so nothing goes round in a circle.
import type { Databases, NamedDatabase } from '../../db/databases.js'
import { type FailureHook, readFailureHook } from '../../domain/failures/failureHook.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { type CpError, toCpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  type FailedExecution,
  listOnFailure,
  noteFailures,
  takeFailures,
  writeHookOutcome,
} from '../../stores/failures/failureHookStore.js'
import { type ExecutionsDeps, startExecution } from '../executions/executions.js'
import { openEvents, type SealedDeps } from '../secrets/sealedValues.js'

export interface FailureHooksDeps extends ExecutionsDeps, Pick<SealedDeps, 'keyring' | 'onOpened'> {
  databases: Databases
  random: () => number
  /** Of playbooks that name none themselves. */
  fallback: FailureHook | undefined
  /** Throws when the address does not answer with success. */
  call(address: string, headers: JsonObject, body: JsonObject): Promise<void>
  onSettled?: (outcome: 'done' | 'failed' | 'given_up') => void
  onError(error: CpError): void
}

const LOOK_MS = 2_000
const PAGE = 100
const HOOKS_MAX = 10_000
/** How far back a daemon looks: when it starts, and afterwards, beyond the last time that it saw all, for what was written late. */
const FIRST_SECONDS = 86_400
const LATE_SECONDS = 600
/** Longer than one attempt takes, so that no other daemon makes it at the same time; doubled with each. */
const AGAIN_SECONDS = 30
const ATTEMPTS_MAX = 8
const KNOWN_SECONDS = 30 * 86_400

export interface FailureHooks extends PollLoop {
  pass(): Promise<number>
}

/** Each shard has a loop of its own: one that is away holds up nothing of the others. */
export function createFailureHooks(deps: FailureHooksDeps, { label, db }: NamedDatabase): FailureHooks {
  let sawAllAt = Number.NEGATIVE_INFINITY

  /** Answers how many were dealt with. */
  async function pass(): Promise<number> {
    const hooks = new Map<string, FailureHook>()
    for (const { catalog_id, hook } of await listOnFailure(deps.databases.cluster.db, HOOKS_MAX)) {
      hooks.set(catalog_id, readFailureHook(parseJson(hook), '/metadata/on_failure'))
    }
    if (hooks.size === 0 && deps.fallback === undefined) return 0
    const catalogIds = deps.fallback === undefined ? [...hooks.keys()] : undefined
    const since = deps.clock.monotonic()
    const seconds = Math.min(FIRST_SECONDS, Math.ceil((since - sawAllAt) / 1_000) + LATE_SECONDS)
    const noted = await noteFailures(db, catalogIds, seconds, PAGE)
    if (noted < PAGE) sawAllAt = since
    const taken = await takeFailures(db, AGAIN_SECONDS, PAGE)
    await Promise.all(taken.map((row) => deal(row, hooks.get(row.catalog_id) ?? deps.fallback)))
    return Math.max(noted, taken.length)
  }

  async function deal(row: FailedExecution, hook: FailureHook | undefined): Promise<void> {
    const id = row.execution_id
    try {
      if (hook === undefined || (await isOfHook(deps, row))) return await writeHookOutcome(db, id, { state: 'NONE' })
      const started = await perform(deps, row, hook)
      await writeHookOutcome(db, id, { state: 'DONE', started })
      deps.onSettled?.('done')
    } catch (error) {
      const failure = toCpError(error)
      const isLast = row.attempts >= ATTEMPTS_MAX
      deps.onSettled?.(isLast ? 'given_up' : 'failed')
      deps.onError(failure)
      await writeHookOutcome(db, id, { state: isLast ? 'GIVEN_UP' : 'PENDING', error: failure.message })
    }
  }

  const loop = createPollLoop({
    name: `failure hooks of ${label}`,
    clock: deps.clock,
    random: deps.random,
    idleMs: LOOK_MS,
    errorMs: 1_000,
    errorMsMax: 30_000,
    onError: deps.onError,
    runOnce: async () => ((await pass()) >= PAGE ? 'busy' : 'idle'),
  })
  return { ...loop, pass }
}

/** Whether a hook has started it. */
async function isOfHook(deps: FailureHooksDeps, { execution_id: id, start_event_id: startId }: FailedExecution) {
  if (startId === null) return false
  const [start] = await openEvents(deps, 'engine', id, [startId])
  return isJsonObject(start?.meta) && start.meta['failure_of'] !== undefined
}

/** Answers the execution that was started, if one was. */
async function perform(deps: FailureHooksDeps, row: FailedExecution, hook: FailureHook): Promise<string | undefined> {
  const failed: JsonObject = {
    execution_id: row.execution_id,
    path: row.path,
    status: 'FAILED',
    error: row.error,
    start_time: row.start_time,
    end_time: row.end_time,
  }
  if ('webhook' in hook) {
    await deps.call(hook.webhook, { ...hook.headers, 'Idempotency-Key': `on-failure-${row.execution_id}` }, failed)
    return undefined
  }
  const { executionId } = await startExecution(deps, {
    path: hook.playbook,
    payload: { ...hook.payload, failed },
    // Whoever tries again finds the one that was started.
    dedup: { key: `on_failure:${row.execution_id}`, windowSeconds: KNOWN_SECONDS },
    failureOf: row.execution_id,
    tenantId: row.tenant_id,
    organizationId: row.organization_id,
  })
  return executionId
}
