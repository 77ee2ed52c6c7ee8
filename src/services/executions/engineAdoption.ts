// Taking over an execution that was started without the engine: before there was one, by another system, or with
// "driven": false. An event of our own carries the mark, so every fold of the log knows from it that the engine decides
// from there on; the row of the execution says so to daemons. Only one of which nothing has begun is taken: what somebody
// else has decided is nothing that an engine could go on from.
import { ENGINE_VERSION } from '../../domain/engine/settings.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { ADOPTED_EVENT_TYPE } from '../../domain/executions/drivenStart.js'
import { isTerminalStatus, noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import { listUnadopted } from '../../stores/events/eventStore.js'
import { driveExecution, type Footing, readFooting } from '../../stores/executions/engineStore.js'
import { lockExecutions } from '../../stores/executions/executionStore.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertToolsOffered } from '../catalog/requiredTools.js'
import { assertRunnable } from '../catalog/runnable.js'
import { adoptAll } from '../events/adoption.js'
import { findExecution } from './executionQueries.js'
import type { ExecutionsDeps } from './executions.js'

export interface AdoptionRequest {
  executionId: ExecutionId
  reason?: string | undefined
  /** W3C trace context of the request. */
  traceContext?: string | undefined
}

/** `driven`: it was so before, and nothing has changed. */
export type Adoption = { status: 'adopted'; eventId: string } | { status: 'driven' }

// Each a page of rows of others.

/** Throws `refused` for one that has ended, has begun, cannot run, or belongs to another version of the engine. */
export async function adoptForEngine(deps: ExecutionsDeps, request: AdoptionRequest): Promise<Adoption> {
  const { executionId: id } = request
  const db = deps.databases.of(id)
  await adoptAll(db, id)
  const row = await findExecution(deps, id)
  const before = drivenAlready(id, row.status, row.engine ?? undefined)
  if (before !== undefined) return before
  if (deps.engine === undefined) {
    throw new CpError('refused', 'the engine is off: NOETL_CP_ENGINE=true lets daemons and commands use it')
  }
  await assertDrivable(deps, id, row.catalog_id)
  return deps.appender.appendWith(id, async (tx, append): Promise<Adoption> => {
    const locked = (await lockExecutions(tx, [id])).get(id)
    if (locked === undefined) throw noSuchExecution(id)
    const { status, startEventId } = locked.summary
    const meanwhile = drivenAlready(id, status, locked.engine)
    if (meanwhile !== undefined) return meanwhile
    if (startEventId === undefined) {
      throw new CpError('refused', `the start of execution ${id} is not in the log, so it cannot be adopted`)
    }
    if ((await listUnadopted(tx, id, 1)).length > 0) {
      throw new CpError('conflict', `somebody writes events of execution ${id}; stop whoever drives it and try again`)
    }
    assertFirm(id, locked.path, await readFooting(tx, id, startEventId))
    const [outcome] = await append(
      [
        {
          event: adoptionEvent(deps, request, locked),
          idGiven: false,
          publish: true,
          createExecution: false,
          trace: request.traceContext,
        },
      ],
      { alongside: () => driveExecution(tx, id, ENGINE_VERSION) },
    )
    if (outcome?.kind === 'refused') throw new CpError('refused', outcome.reason)
    if (outcome?.kind !== 'stored') throw new CpError('internal', `the adoption of execution ${id} was not stored`)
    return { status: 'adopted', eventId: outcome.eventId }
  })
}

/** Undefined: nobody drives it. Throws when it has ended, and when an engine of another version drives it. */
function drivenAlready(id: string, status: string, engine: number | undefined): Adoption | undefined {
  if (isTerminalStatus(status)) {
    throw new CpError('refused', `execution ${id} is ${status}; "noetl-cp execution start" starts its playbook anew`)
  }
  if (engine === undefined) return undefined
  if (engine !== ENGINE_VERSION) throw ofOtherEngine(id, String(engine))
  return { status: 'driven' }
}

function ofOtherEngine(id: string, engine: string): CpError {
  return new CpError(
    'refused',
    `execution ${id} was started for version ${engine} of the engine, this program has version ${ENGINE_VERSION}; run a daemon of that version until it has ended`,
  )
}

async function assertDrivable(deps: ExecutionsDeps, id: string, catalogId: string): Promise<void> {
  const entry = await entryOf(deps, id, catalogId)
  if (entry.kind.toLowerCase() !== 'playbook') {
    throw new CpError('refused', `${entry.path} is of kind ${entry.kind}; the engine drives playbooks alone`)
  }
  await assertRunnable(deps, entry)
  await assertToolsOffered(deps, entry)
}

async function entryOf(deps: ExecutionsDeps, id: string, catalogId: string): Promise<CatalogEntry> {
  try {
    return await findEntry(deps, { catalogId })
  } catch (error) {
    if (!(error instanceof CpError && error.code === 'not_found')) throw error
    throw new CpError(
      'refused',
      `the playbook of execution ${id} (catalog entry ${catalogId}) is not in the catalog; register it with "noetl-cp catalog register" and start it anew`,
    )
  }
}

function assertFirm(id: string, path: string | undefined, { engine, begun }: Footing): void {
  if (begun !== null) {
    throw new CpError(
      'refused',
      `execution ${id} has begun without the engine (${begun}), which cannot go on from there; let whoever drives it go on, or cancel it and "noetl-cp execution start ${path ?? '<path>'}"`,
    )
  }
  if (engine !== null && engine !== String(ENGINE_VERSION)) throw ofOtherEngine(id, engine)
}

function adoptionEvent(
  deps: ExecutionsDeps,
  { executionId, reason }: AdoptionRequest,
  { tenantId, organizationId }: { tenantId: string; organizationId: string },
): EventRecord {
  const now = wireTimeFromMillis(deps.clock.now())
  const meta: JsonObject = { emitted_at: now, emitter: 'control_plane', engine: ENGINE_VERSION }
  if (reason !== undefined) meta['reason'] = reason
  return {
    executionId,
    eventId: deps.ids.next() as EventId,
    eventType: ADOPTED_EVENT_TYPE,
    nodeId: 'playbook',
    nodeName: 'playbook',
    nodeType: 'playbook',
    status: 'RUNNING',
    result: { status: 'RUNNING' },
    meta,
    tenantId,
    organizationId,
    createdAt: now,
    createdAtGiven: false,
  }
}
