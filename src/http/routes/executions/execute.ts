// POST /api/execute and /api/execute/batch: start executions from the catalog.
import { parseVersion } from '../../../domain/catalog/wantedVersion.js'
import { LABELS_MAX, readLabels } from '../../../domain/executions/labels.js'
import { parseCatalogId, parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJson } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { CpError, toCpError } from '../../../errors.js'
import { LARGE_BYTES } from '../../../services/bodies/largeBodies.js'
import {
  type ExecutionsDeps,
  type Started,
  type StartRequest,
  startExecution,
} from '../../../services/executions/executions.js'
import type { LargeStart } from '../../../services/executions/inThread/largeStarts.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import { answerOf, COUNT, type Schema, TEXT, violation } from '../../schema.js'
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
    version: { nullable: true, description: '"latest", a number, or its text; with path' },
    payload: { type: 'object', nullable: true, description: 'overlays the workload of the playbook; alias: workload' },
    workload: { type: 'object', nullable: true },
    parent_execution_id: id,
    execution_pool: { type: 'string', nullable: true, maxLength: 128 },
    priority: {
      type: 'integer',
      minimum: -100,
      maximum: 100,
      nullable: true,
      description: 'of its commands in their pool; higher comes first, default 0',
    },
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
      description: 'false: the engine does not drive it; the caller sends its events',
    },
    children_map: {
      type: 'object',
      nullable: true,
      description: 'where relative paths of child playbooks lead: {path as written: path in the catalog}',
    },
    labels: {
      type: 'object',
      nullable: true,
      description: `up to ${LABELS_MAX} names with texts, to find it by`,
    },
    tenant_id: { type: 'string', nullable: true, maxLength: 128 },
    organization_id: { type: 'string', nullable: true, maxLength: 128 },
  },
}

export const STARTED: Schema = {
  type: 'object',
  properties: {
    execution_id: { type: 'string' },
    status: { type: 'string', enum: ['started', 'duplicate'] },
    commands_generated: { type: 'integer' },
  },
}

const BATCH_MAX = 1000
const BATCH_SIDE_BY_SIDE = 32
const DEDUP_WINDOW_SECONDS = 300

const BATCH: Schema = {
  type: 'object',
  required: ['executions'],
  properties: { executions: { type: 'array', minItems: 1, maxItems: BATCH_MAX } },
}

export function executeRoutes({ executions }: ExecuteRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/execute',
      summary: 'Start an execution of a catalog entry',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      readsLarge: true,
      body: REQUEST,
      responses: {
        200: STARTED,
        404: 'unknown catalog entry',
        422: 'neither path nor catalog_id; or a playbook that cannot run, with its problems',
      },
      handler: async (request) => {
        const [start] = await startsOf(executions, request, REQUEST)
        const started = await startExecution(executions, toStart(start!(), request))
        return { body: startedOf(started), about: { kind: 'execution', id: started.executionId } }
      },
    },
    {
      method: 'POST',
      path: '/api/execute/batch',
      summary: `Start up to ${BATCH_MAX} executions, each on its own`,
      access: 'public',
      effect: 'write',
      bodySize: 'batch',
      readsLarge: true,
      body: BATCH,
      responses: {
        200: answerOf({
          count: COUNT,
          started: COUNT,
          duplicates: COUNT,
          failed: COUNT,
          results: {
            type: 'array',
            items: answerOf({
              index: COUNT,
              status: { type: 'string', enum: ['started', 'duplicate', 'error'] },
              execution_id: TEXT,
              commands_generated: COUNT,
              error: TEXT,
              problems: { type: 'array' },
            }),
          },
        }),
        400: 'malformed',
      },
      handler: async (request) => ({ body: await startBatch(executions, request) }),
    },
  ]
}

/** What is asked for, with texts in place of what is too large. */
interface GivenStart {
  body: JsonValue
  texts?: StartRequest['texts']
}

/** Each is read when it is its turn: there may be many. */
async function startsOf(deps: ExecutionsDeps, request: ApiRequest, schema: Schema): Promise<(() => GivenStart)[]> {
  const isBatch = schema === BATCH
  if (request.large !== undefined) {
    const { starts } = await deps.large.readStarts({ bytes: request.large, schema, start: REQUEST, isBatch })
    return starts.map((start) => () => readStart(start))
  }
  const body = request.body as JsonObject
  return (isBatch ? (body['executions'] as JsonValue[]) : [body]).map((item) => () => ({ body: item }))
}

function readStart({ fields, payload, trace }: LargeStart): GivenStart {
  const body = parseJson(fields)
  if ((payload?.length ?? 0) + (trace?.length ?? 0) > LARGE_BYTES) return { body, texts: { payload, trace } }
  if (!isJsonObject(body)) return { body }
  return {
    body: {
      ...body,
      ...(payload === undefined ? {} : { payload: parseJson(payload) }),
      ...(trace === undefined ? {} : { trace: parseJson(trace) }),
    },
  }
}

async function startBatch(deps: ExecutionsDeps, request: ApiRequest): Promise<JsonObject> {
  const list = await startsOf(deps, request, BATCH)
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
    failed: count('error'),
    results,
  }
}

async function startOne(
  deps: ExecutionsDeps,
  start: () => GivenStart,
  index: number,
  request: ApiRequest,
): Promise<JsonObject> {
  try {
    const given = start()
    const found = violation(REQUEST, given.body, `/executions/${index}`)
    if (found !== undefined) throw new CpError('invalid_input', found)
    const started = await startExecution(deps, toStart(given, request))
    return { index, status: started.status, execution_id: started.executionId, commands_generated: 0 }
  } catch (error) {
    const { message, details } = toCpError(error)
    const problems = Array.isArray(details['problems']) ? { problems: details['problems'] } : {}
    // Workers give a message back for "error" alone; any other word counts as done.
    return { index, status: 'error', commands_generated: 0, error: message, ...problems }
  }
}

export function startedOf(started: Started): JsonObject {
  return { execution_id: started.executionId, status: started.status, commands_generated: 0 }
}

function toStart({ body: given, texts }: GivenStart, request: ApiRequest): StartRequest {
  const body = given as JsonObject
  const payload = body['payload'] ?? body['workload']
  const dedup = body['dedup']
  const window = isJsonObject(dedup) ? dedup['window_secs'] : undefined
  return {
    timeoutSeconds: typeof body['timeout_seconds'] === 'number' ? body['timeout_seconds'] : undefined,
    driven: body['driven'] !== false,
    path: text(body['path']),
    catalogId: body['catalog_id'] == null ? undefined : parseCatalogId(body['catalog_id'], '/catalog_id'),
    version: parseVersion(body['version']),
    payload: isJsonObject(payload) ? payload : undefined,
    texts,
    parentExecutionId:
      body['parent_execution_id'] == null
        ? undefined
        : parseExecutionId(body['parent_execution_id'], '/parent_execution_id'),
    childrenMap: isJsonObject(body['children_map']) ? body['children_map'] : undefined,
    executionPool: text(body['execution_pool']),
    priority: typeof body['priority'] === 'number' ? body['priority'] : undefined,
    trace: body['trace'] ?? undefined,
    labels: readLabels(body['labels'], 'labels'),
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
