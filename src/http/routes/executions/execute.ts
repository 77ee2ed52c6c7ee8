// POST /api/execute and /api/execute/batch: start executions from the catalog.
import { parseCatalogId, parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { CpError, toCpError } from '../../../errors.js'
import {
  type ExecutionsDeps,
  type Started,
  type StartRequest,
  startExecution,
} from '../../../services/executions/executions.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import { type Schema, violation } from '../../schema.js'
import { traceContextOf } from '../../traceContext.js'

export interface ExecuteRouteDeps {
  executions: ExecutionsDeps
}

const id: Schema = { format: 'int64', nullable: true, description: 'number or decimal text' }

const REQUEST: Schema = {
  type: 'object',
  properties: {
    path: { type: 'string', nullable: true, minLength: 1, maxLength: 512 },
    catalog_id: id,
    payload: { type: 'object', nullable: true, description: 'overlays the workload of the playbook; alias: workload' },
    workload: { type: 'object', nullable: true },
    parent_execution_id: id,
    execution_pool: { type: 'string', nullable: true, maxLength: 128 },
    trace: {},
    dedup: {
      type: 'object',
      nullable: true,
      required: ['key'],
      properties: {
        key: { type: 'string', minLength: 1, maxLength: 512 },
        window_secs: { type: 'integer', minimum: 1, maximum: 31_536_000, default: 300 },
      },
    },
    timeout_seconds: {
      type: 'number',
      nullable: true,
      minimum: 0.001,
      maximum: 31_536_000,
      description: 'the execution fails when it takes longer',
    },
    driven: {
      type: 'boolean',
      nullable: true,
      description: 'false: the engine leaves it alone, and whoever started it sends its events',
    },
    children_map: {
      type: 'object',
      nullable: true,
      description: 'where relative paths of child playbooks lead: {path as written: path in the catalog}',
    },
    tenant_id: { type: 'string', nullable: true, maxLength: 128 },
    organization_id: { type: 'string', nullable: true, maxLength: 128 },
  },
}

const BATCH_MAX = 1000
const BATCH_SIDE_BY_SIDE = 32
const DEDUP_WINDOW_SECONDS = 300

export function executeRoutes({ executions }: ExecuteRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/execute',
      summary: 'Start an execution of a catalog entry',
      access: 'public',
      bodySize: 'event',
      body: REQUEST,
      responses: {
        200: {
          type: 'object',
          properties: {
            execution_id: { type: 'string' },
            status: { type: 'string', enum: ['started', 'duplicate'] },
            commands_generated: { type: 'integer' },
          },
        },
        404: 'unknown catalog entry',
        422: 'neither path nor catalog_id; or a playbook that cannot run, with its problems',
      },
      handler: async (request) => ({
        body: answer(await startExecution(executions, toStart(request.body as JsonObject, request))),
      }),
    },
    {
      method: 'POST',
      path: '/api/execute/batch',
      summary: `Start up to ${BATCH_MAX} executions, each on its own`,
      access: 'public',
      bodySize: 'batch',
      body: {
        type: 'object',
        required: ['executions'],
        properties: { executions: { type: 'array', minItems: 1, maxItems: BATCH_MAX } },
      },
      responses: { 200: { type: 'object', description: 'counts, and a result per item' }, 400: 'malformed' },
      handler: async (request) => ({ body: await startBatch(executions, request) }),
    },
  ]
}

async function startBatch(deps: ExecutionsDeps, request: ApiRequest): Promise<JsonObject> {
  const list = (request.body as JsonObject)['executions'] as JsonValue[]
  const results: JsonObject[] = new Array(list.length)
  let next = 0
  const worker = async (): Promise<void> => {
    for (;;) {
      const index = next++
      if (index >= list.length) return
      results[index] = await startOne(deps, list[index]!, index, request)
    }
  }
  await Promise.all(Array.from({ length: Math.min(BATCH_SIDE_BY_SIDE, list.length) }, worker))
  const count = (status: string): number => results.filter((result) => result['status'] === status).length
  return {
    count: list.length,
    started: count('started'),
    duplicates: count('duplicate'),
    failed: count('failed'),
    results,
  }
}

async function startOne(
  deps: ExecutionsDeps,
  item: JsonValue,
  index: number,
  request: ApiRequest,
): Promise<JsonObject> {
  try {
    const found = violation(REQUEST, item, `/executions/${index}`)
    if (found !== undefined) throw new CpError('invalid_input', found)
    const started = await startExecution(deps, toStart(item as JsonObject, request))
    return { index, status: started.status, execution_id: started.executionId, commands_generated: 0 }
  } catch (error) {
    const { message, details } = toCpError(error)
    const problems = Array.isArray(details['problems']) ? { problems: details['problems'] } : {}
    return { index, status: 'failed', commands_generated: 0, error: message, ...problems }
  }
}

function answer(started: Started): JsonObject {
  return { execution_id: started.executionId, status: started.status, commands_generated: 0 }
}

function toStart(body: JsonObject, request: ApiRequest): StartRequest {
  const payload = body['payload'] ?? body['workload']
  const dedup = body['dedup']
  const window = isJsonObject(dedup) ? dedup['window_secs'] : undefined
  return {
    timeoutSeconds: typeof body['timeout_seconds'] === 'number' ? body['timeout_seconds'] : undefined,
    driven: body['driven'] !== false,
    path: text(body['path']),
    catalogId: body['catalog_id'] == null ? undefined : parseCatalogId(body['catalog_id'], '/catalog_id'),
    payload: isJsonObject(payload) ? payload : undefined,
    parentExecutionId:
      body['parent_execution_id'] == null
        ? undefined
        : parseExecutionId(body['parent_execution_id'], '/parent_execution_id'),
    childrenMap: isJsonObject(body['children_map']) ? body['children_map'] : undefined,
    executionPool: text(body['execution_pool']),
    trace: body['trace'] ?? undefined,
    dedup: isJsonObject(dedup)
      ? { key: dedup['key'] as string, windowSeconds: typeof window === 'number' ? window : DEDUP_WINDOW_SECONDS }
      : undefined,
    tenantId: text(body['tenant_id']),
    organizationId: text(body['organization_id']),
    traceContext: traceContextOf(request.headers),
  }
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
