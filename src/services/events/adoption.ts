// Events that others wrote straight into the table: no version, no lock, no read model. Each is numbered
// under the execution's lock as soon as it is visible, and from then on every reader finds it by version,
// however old its id or its time. A row of a transaction that is still open is simply not there yet; it
// delays nobody and is adopted when it commits. On request it is also published: see NOETL_CP_PUBLISH_ADOPTED.

import type { Databases } from '../../db/databases.js'
import type { Db, Tx } from '../../db/db.js'
import { writeEnvelope } from '../../domain/events/envelope.js'
import { isStartEventType } from '../../domain/events/eventType.js'
import { startPathOf } from '../../domain/events/startPath.js'
import { evolveExecution } from '../../domain/executions/executionEffect.js'
import { labelsOf } from '../../domain/executions/labels.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { LruMap } from '../../runtime/lruMap.js'
import { pathOfEntry } from '../../stores/catalog/catalogStore.js'
import { type EventRow, toEventRecord } from '../../stores/events/eventRows.js'
import { listUnadopted, listUnadoptedExecutions, numberEvents } from '../../stores/events/eventStore.js'
import {
  createExecutions,
  type LockedExecution,
  labelExecutions,
  lockExecutions,
  updateExecutions,
} from '../../stores/executions/executionStore.js'
import { publishesAdopted } from '../../stores/ids/identityStore.js'
import { insertAdoptedRows, notifyRelays } from '../../stores/outbox/outboxStore.js'
import { noteLifecycle } from '../subscriptions/lifecycleNotes.js'

const PAGE = 2_000
export const ADOPTED_PAGES_MAX = 10_000

/** Numbers what is visible of one execution, one page per call. Answers how many rows that were. */
export async function adoptExecution(db: Db, executionId: string): Promise<number> {
  // The common case is "nothing to adopt"; it must not cost a lock.
  const peek = await listUnadopted(db, executionId, 1)
  if (peek.length === 0) return 0
  return db.tx((tx) => adoptInTx(tx, executionId, peek[0]!))
}

/** Numbers everything that is visible of one execution. */
export async function adoptAll(db: Db, executionId: string): Promise<void> {
  for (let page = 0; page < ADOPTED_PAGES_MAX; page++) if ((await adoptExecution(db, executionId)) === 0) return
  throw overtaken(executionId)
}

export function overtaken(executionId: string): CpError {
  return new CpError(
    'overloaded',
    `others write events of execution ${executionId} faster than they are adopted; ask again when they write less`,
  )
}

async function adoptInTx(tx: Tx, executionId: string, first: EventRow): Promise<number> {
  let execution = (await lockExecutions(tx, [executionId])).get(executionId)
  if (execution === undefined) {
    await createExecutions(tx, [
      {
        executionId,
        catalogId: first.catalog_id,
        path: null,
        parentExecutionId: first.parent_execution_id,
        tenantId: first.tenant_id,
        organizationId: first.organization_id,
        engine: null,
      },
    ])
    execution = (await lockExecutions(tx, [executionId])).get(executionId)!
  }
  const rows = await listUnadopted(tx, executionId, PAGE)
  if (rows.length === 0) return 0
  const numbers = rows.map((row, index) => ({
    eventId: row.event_id,
    version: execution.streamVersion + BigInt(index + 1),
  }))
  await numberEvents(tx, executionId, numbers)
  if (await publishesAdopted(tx)) await publish(tx, rows, execution.streamVersion)
  for (const row of rows) learn(execution, row)
  // Not every server writes it into the start event; their catalog is in the same database.
  execution.path ??= await pathOfEntry(tx, execution.catalogId)
  execution.streamVersion += BigInt(rows.length)
  // An adopted log was counted when its execution was backfilled; only what came later is new.
  if (execution.streamVersion > execution.eventCount) execution.eventCount = execution.streamVersion
  await updateExecutions(tx, [execution])
  const labels = rows.map((row) => labelsOf(toEventRecord(row))).find((found) => found !== undefined)
  if (labels !== undefined && !execution.isLabelled) await labelExecutions(tx, new Map([[executionId, labels]]))
  await noteLifecycle(
    tx,
    rows.map((row) => ({ executionId: row.execution_id, eventType: row.event_type ?? '' })),
  )
  return rows.length
}

const PUBLISHED_TOGETHER = 100

/** Under the execution's lock, so in the order of the versions among everything else of the execution. */
async function publish(tx: Tx, rows: readonly EventRow[], before: bigint): Promise<void> {
  let made = 0
  for (let from = 0; from < rows.length; from += PUBLISHED_TOGETHER) {
    const some = rows.slice(from, from + PUBLISHED_TOGETHER).map((row, index) => {
      const event = toEventRecord(row)
      return { eventId: event.eventId, payload: writeEnvelope(event, String(before + BigInt(from + index + 1))) }
    })
    made += await insertAdoptedRows(tx, rows[0]!.execution_id, some)
  }
  if (made > 0) await notifyRelays(tx)
}

function learn(execution: LockedExecution, row: EventRow): void {
  const event = toEventRecord(row)
  execution.summary = evolveExecution(execution.summary, event)
  if (!isStartEventType(event.eventType)) return
  execution.path ??= startPathOf(event)
  execution.parentExecutionId ??= event.parentExecutionId
  if (execution.catalogId === '0' && event.catalogId !== undefined) execution.catalogId = event.catalogId
}

export interface AdopterDeps {
  databases: Databases
  clock: Clock
  random: () => number
  intervalMs: number
  onAdopted(shard: number, executionId: string, count: number): void
  onError(error: CpError): void
}

const EXECUTIONS_PER_PASS = 200
const BEFORE_ALL = '-9223372036854775808'
// Rows that cannot be read stay as they are until somebody repairs them; asking every second helps nobody.
const TROUBLED_PAUSE_MS = 60_000
const TROUBLED_MAX = 1_000

/** Looks for such rows on every shard. Neither a shard that is down nor a row that cannot be read holds up others. */
export function createAdopter(deps: AdopterDeps): PollLoop {
  const positions = deps.databases.shards.map(() => BEFORE_ALL)
  const troubledUntil = new LruMap<string, number>({ entriesMax: TROUBLED_MAX })

  async function adoptOne(db: Db, shard: number, executionId: string): Promise<number> {
    if ((troubledUntil.get(executionId) ?? 0) > deps.clock.monotonic()) return 0
    try {
      const count = await adoptExecution(db, executionId)
      if (count > 0) deps.onAdopted(shard, executionId, count)
      troubledUntil.delete(executionId)
      return count
    } catch (error) {
      if (isOwnTrouble(error)) throw error
      troubledUntil.set(executionId, deps.clock.monotonic() + TROUBLED_PAUSE_MS)
      const { code, message } = toCpError(error)
      deps.onError(
        new CpError(code, `events of execution ${executionId} cannot be adopted: ${message}`, { cause: error }),
      )
      return 0
    }
  }

  async function pass(db: Db, shard: number, signal: AbortSignal): Promise<number> {
    const executions = await listUnadoptedExecutions(db, positions[shard]!, EXECUTIONS_PER_PASS)
    let found = 0
    for (const executionId of executions) {
      if (signal.aborted) return found
      found += await adoptOne(db, shard, executionId)
    }
    positions[shard] = executions.length < EXECUTIONS_PER_PASS ? BEFORE_ALL : executions[executions.length - 1]!
    return found
  }

  return createPollLoop({
    name: 'adopter',
    clock: deps.clock,
    random: deps.random,
    idleMs: deps.intervalMs,
    errorMs: 1_000,
    errorMsMax: 15_000,
    onError: deps.onError,
    runOnce: async (signal) => {
      const { answers, failures } = await deps.databases.fanOut((db, shard) => pass(db, shard, signal))
      for (const { error } of failures) deps.onError(error)
      return answers.some((answer) => answer.value > 0) ? 'busy' : 'idle'
    },
  })
}
