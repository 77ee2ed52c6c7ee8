// Starting the playbook that a command asks for. The id of the execution is fixed before, and so is that of its first
// event: starting it twice, by whomever, starts it once.
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import type { FamilyMember } from '../../stores/children/childStore.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertToolsOffered } from '../catalog/requiredTools.js'
import { assertRunnable } from '../catalog/runnable.js'
import { type ExecutionsDeps, type StartRequest, startEvent } from '../executions/executions.js'
import { openEvents, type SealedDeps } from '../secrets/sealedValues.js'

export interface ChildStartDeps extends ExecutionsDeps, Pick<SealedDeps, 'keyring' | 'onOpened'> {
  /** Playbooks inside of playbooks; deeper ones are refused, so that a circle of them ends. */
  depthMax: number
}

/** What a command says about the playbook it starts. */
export interface Wanted {
  path: string | undefined
  catalogId: string | undefined
  version: string | undefined
  payload: JsonObject
}

export interface Prepared {
  entry: CatalogEntry
  request: StartRequest
}

/** Refused or not found: it can never be started. Anything else may pass. */
export async function prepareChild(
  deps: ChildStartDeps,
  parent: FamilyMember,
  command: { id: string; wants: Wanted },
): Promise<Prepared> {
  const { wants } = command
  const inherited = await startMetaOf(deps, parent)
  const depth = depthOf(inherited) + 1
  if (depth > deps.depthMax) {
    throw new CpError('refused', `playbooks start each other more than ${deps.depthMax} deep; is there a circle?`)
  }
  const map = inherited['children_map']
  const childrenMap = isJsonObject(map) ? map : undefined
  const entry = await findEntry(deps, {
    catalogId: wants.path === undefined ? wants.catalogId : undefined,
    path: wants.path === undefined ? undefined : mappedPath(wants.path, childrenMap, parent.path),
    version: versionOf(wants.version),
  })
  await assertRunnable(deps, entry)
  await assertToolsOffered(deps, entry)
  const { execution_pool: pool, trace } = inherited
  return {
    entry,
    request: {
      payload: wants.payload,
      parentExecutionId: parent.execution_id,
      executionPool: typeof pool === 'string' ? pool : undefined,
      trace,
      tenantId: parent.tenant_id,
      organizationId: parent.organization_id,
      childrenMap,
      child: { commandId: command.id, depth },
    },
  }
}

/** A second start with the same id changes nothing. */
export async function startChild(deps: ChildStartDeps, childId: string, { entry, request }: Prepared): Promise<void> {
  const executionId = childId as ExecutionId
  const event = { ...startEvent(deps, request, executionId, entry), eventId: childId as EventId }
  const item = { event, idGiven: true, publish: true, createExecution: true, path: entry.path }
  const [outcome] = await deps.appender.append([item])
  if (outcome?.kind === 'refused') throw new CpError('refused', outcome.reason)
}

async function startMetaOf(deps: ChildStartDeps, parent: FamilyMember): Promise<JsonObject> {
  const { execution_id: id, start_event_id: startId } = parent
  if (startId === null) return {}
  const [start] = await openEvents(deps, 'engine', id, [startId])
  return isJsonObject(start?.meta) ? start.meta : {}
}

function depthOf({ depth }: JsonObject): number {
  return typeof depth === 'number' ? depth : 0
}

/** `latest` and nothing at all are the newest. */
function versionOf(text: string | undefined): number | undefined {
  if (text === undefined || text === 'latest') return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new CpError('refused', `the version ${JSON.stringify(text)} of a playbook is not a whole number`)
}

/** What a playbook names itself comes first: the same text may lead to another file in another folder. */
function mappedPath(path: string, map: JsonObject | undefined, parent: string | null): string {
  const ofParent = parent === null ? undefined : entryOf(entryOf(map, 'by_parent'), parent)
  const mapped = entryOf(ofParent, path) ?? entryOf(map, path)
  if (typeof mapped === 'string') return mapped
  if (!path.startsWith('./') && !path.startsWith('../')) return path
  throw new CpError(
    'refused',
    `the path ${path} is relative: it leads somewhere only when "noetl-cp run" has started the playbook from its file, and the file says the path as it is, not by a template; name the path in the catalog`,
  )
}

function entryOf(map: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(map) && Object.hasOwn(map, key) ? map[key] : undefined
}
