// Going on from an execution that has failed or was cancelled: a new execution whose log begins with what the old one has
// done. The old log stays as it is. Everything is written in one transaction, so the engine never sees half of it.
import { keptOf, startOf, transplanted } from '../../domain/engine/resume.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { engineOf } from '../../domain/executions/drivenStart.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { CatalogId, EventId, ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { jsonWeight } from '../../domain/json/weight.js'
import { CpError } from '../../errors.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import { numberedIds } from '../../stores/events/eventTransferStore.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertToolsOffered } from '../catalog/requiredTools.js'
import { assertRunnable } from '../catalog/runnable.js'
import type { AppendItem } from '../events/appendInTx.js'
import { openEvents, type SealedDeps } from '../secrets/sealedValues.js'
import { findExecution } from './executionQueries.js'
import type { ExecutionsDeps } from './executions.js'

export interface ResumeDeps extends ExecutionsDeps, Pick<SealedDeps, 'keyring' | 'onOpened'> {}

export interface ResumeRequest {
  executionId: ExecutionId
  /** By the newest version of its playbook instead of its own. */
  latest: boolean
  traceContext?: string | undefined
}

export interface Resumed {
  executionId: string
  /** Steps that begin again or go on; empty: it begins from the start. */
  again: readonly string[]
  /** Events that it took over. */
  kept: number
}

// All of it is in memory at a time, and written in one transaction.
const EVENTS_MAX = 20_000
const WEIGHT_MAX = 64 * 1_048_576
const PAGE = 200

/** Throws `refused` for one that runs, has completed or is not driven by the engine. */
export async function resumeExecution(deps: ResumeDeps, request: ResumeRequest): Promise<Resumed> {
  const from = request.executionId
  const row = await findExecution(deps, from)
  if (!isTerminalStatus(row.status)) {
    throw new CpError(
      'refused',
      `execution ${from} is ${row.status}; it can be resumed when it has failed or was cancelled`,
    )
  }
  if (row.status === 'COMPLETED') {
    throw new CpError('refused', `execution ${from} has completed; "execution rerun" starts it once more`)
  }
  const log = await readLog(deps, from)
  const start = startOf(log)
  if (start === undefined || !log.some((event) => engineOf(event) !== undefined)) {
    throw new CpError(
      'refused',
      `execution ${from} was not driven by this engine; "execution rerun" starts it once more`,
    )
  }
  const entry = await findEntry(deps, request.latest ? { path: row.path ?? undefined } : { catalogId: row.catalog_id })
  await assertRunnable(deps, entry)
  await assertToolsOffered(deps, entry)
  const { events, again } = keptOf(log)
  const executionId = deps.ids.next() as ExecutionId
  const begin = newStart(deps, start, executionId, entry)
  const copies = transplanted(events, executionId, () => deps.ids.next() as EventId)
  const items = [begin, ...copies].map(
    (event, index): AppendItem => ({
      event: index === 0 ? event : { ...event, catalogId: begin.catalogId, parentExecutionId: undefined },
      idGiven: false,
      publish: true,
      createExecution: index === 0,
      path: index === 0 ? entry.path : undefined,
      trace: request.traceContext,
    }),
  )
  await deps.appender.appendWith(executionId, async (_tx, append) => {
    for (const outcome of await append(items)) {
      if (outcome.kind !== 'stored') throw new CpError('internal', `an event of ${from} could not be taken over`)
    }
  })
  return { executionId, again, kept: copies.length }
}

async function readLog(deps: ResumeDeps, id: ExecutionId): Promise<EventRecord[]> {
  const log: EventRecord[] = []
  let weight = 0
  for (let after = '0'; ; ) {
    const page = await numberedIds(deps.databases.of(id), id, after, PAGE)
    const last = page.at(-1)
    if (last === undefined) break
    after = last.stream_version
    const ids = page.map((row) => row.event_id)
    for (const event of await openEvents(deps, 'engine', id, ids)) {
      weight += jsonWeight(event.context) + jsonWeight(event.result) + jsonWeight(event.meta)
      log.push(event)
    }
    if (log.length > EVENTS_MAX || weight > WEIGHT_MAX) {
      throw new CpError(
        'too_large',
        `execution ${id} has more than ${EVENTS_MAX} events or ${WEIGHT_MAX / 1_048_576} MB of them, too many to be taken over; "execution rerun" starts it once more`,
      )
    }
  }
  // Ids are the order of what happened; versions that of its arrival.
  return log.sort((a, b) => (BigInt(a.eventId) < BigInt(b.eventId) ? -1 : 1))
}

/** As the old one was started, but by nobody: whoever waited for that one has heard of its failure. */
function newStart(deps: ResumeDeps, start: EventRecord, executionId: ExecutionId, entry: CatalogEntry): EventRecord {
  const now = wireTimeFromMillis(deps.clock.now())
  const { parent_command_id: _, ...meta } = start.meta as JsonObject
  const context: JsonObject = isJsonObject(start.context) ? start.context : {}
  return {
    ...start,
    executionId,
    eventId: deps.ids.next() as EventId,
    catalogId: entry.catalog_id as CatalogId,
    parentExecutionId: undefined,
    parentEventId: undefined,
    context: { ...context, catalog_id: entry.catalog_id, execution_id: executionId, version: entry.version },
    meta: {
      ...meta,
      emitter: 'control_plane',
      engine: deps.engine ?? null,
      emitted_at: now,
      resumed_from: start.executionId,
    },
    createdAt: now,
    createdAtGiven: false,
  }
}
