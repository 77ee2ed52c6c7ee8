// The playbook of an execution once more: the same version, the same workload with what the caller lays over it, and the
// same wishes about pool, priority, time, tenant and labels. Secrets of the workload come along sealed; nobody sees them.
import { labelsOf } from '../../domain/executions/labels.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { type Assignment, assign } from '../../domain/json/replaceAt.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import { openEvents, type SealedDeps } from '../secrets/sealedValues.js'
import { findExecution } from './executionQueries.js'
import { type ExecutionsDeps, type Started, startExecution } from './executions.js'

export interface RerunDeps extends ExecutionsDeps, Pick<SealedDeps, 'keyring' | 'onOpened'> {}

export interface RerunRequest {
  executionId: ExecutionId
  /** Values that replace those of before. */
  workload?: JsonObject
  /** What changes in them, and leaves the rest. */
  sets?: readonly Assignment[]
  traceContext?: string | undefined
}

export async function rerunExecution(deps: RerunDeps, request: RerunRequest): Promise<Started> {
  const row = await findExecution(deps, request.executionId)
  const start =
    row.start_event_id === null
      ? undefined
      : (await openEvents(deps, 'engine', request.executionId, [row.start_event_id]))[0]
  if (start === undefined) {
    throw new CpError(
      'refused',
      `the start of execution ${request.executionId} is not in the log; start its playbook with "noetl-cp execution start"`,
    )
  }
  const context = objectOf(start.context)
  const meta = objectOf(start.meta)
  const workload = { ...objectOf(context['workload']), ...request.workload }
  for (const set of request.sets ?? []) {
    assertNoTemplates(workload, set)
    assign(workload, set)
  }
  const { execution_pool: pool, priority, timeout_seconds: timeout, children_map: children } = meta
  return startExecution(deps, {
    catalogId: row.catalog_id,
    payload: workload,
    executionPool: typeof pool === 'string' ? pool : undefined,
    priority: typeof priority === 'number' ? priority : undefined,
    timeoutSeconds: typeof timeout === 'number' ? timeout : undefined,
    childrenMap: isJsonObject(children) ? children : undefined,
    labels: labelsOf(start),
    driven: row.engine !== null,
    tenantId: row.tenant_id,
    organizationId: row.organization_id,
    traceContext: request.traceContext,
  })
}

/** A default of the playbook is rendered as a whole or not at all: a template beside what is set would stay text. */
function assertNoTemplates(workload: JsonObject, { name, keys }: Assignment): void {
  const [first] = keys as [string]
  if (keys.length === 1 || !Object.hasOwn(workload, first) || !hasTemplate(workload[first])) return
  throw new CpError(
    'refused',
    `--set ${name}: beside it there is a template in the workload, and it would stay text; give all of it: --set '${first}=…'`,
  )
}

function hasTemplate(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.includes('{{') || value.includes('{%')
  if (Array.isArray(value)) return value.some(hasTemplate)
  return isJsonObject(value) && Object.values(value).some(hasTemplate)
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
