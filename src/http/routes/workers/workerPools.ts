// Worker pools announce themselves here. The names of routes and fields are those that workers send already.

import { parseEventId } from '../../../domain/ids/ids.js'
import { floatValue, integerValue, isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import type { Commands } from '../../../services/commands/commands.js'
import {
  beatWorkerPool,
  deregisterWorkerPool,
  listWorkerPools,
  registerWorkerPool,
  type WorkerPoolDeps,
  type WorkerPoolView,
} from '../../../services/workers/workerPools.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, type Schema, TEXT } from '../../schema.js'

export interface WorkerPoolRouteDeps {
  workerPools: WorkerPoolDeps
  commands: Pick<Commands, 'releaseStrays'>
}

const name = { type: 'string', minLength: 1, maxLength: 255 } as const
const kind = { type: 'string', maxLength: 50, nullable: true, description: 'default worker_pool' } as const
const names = { name, kind, component_type: kind }
const named: Schema = { type: 'object', required: ['name'], properties: names }
const HELD_MAX = 10_000
const held: Schema = {
  type: 'array',
  maxItems: HELD_MAX,
  nullable: true,
  items: { format: 'int64' },
  description:
    'event_id of every command that it has; what else it was given longer than ten seconds ago goes to others',
}
const pool: Schema = {
  type: 'object',
  properties: { runtime_id: { format: 'int64' }, name, status: { type: 'string' } },
}

const SAID = answerOf({ status: TEXT, message: TEXT })

export function workerPoolRoutes({ workerPools, commands }: WorkerPoolRouteDeps): RouteSpec[] {
  const deregister = (method: 'POST' | 'DELETE'): RouteSpec => ({
    method,
    path: '/api/worker/pool/deregister',
    summary: 'A worker pool ends',
    access: 'public',
    effect: 'write',
    body: named,
    responses: { 200: SAID },
    handler: async ({ body }) => {
      const input = body as JsonObject
      const known = await deregisterWorkerPool(workerPools.databases, input['name'] as string, kindOf(input))
      return { body: { status: 'ok', message: known ? 'deregistered' : 'not known' } }
    },
  })
  return [
    {
      method: 'POST',
      path: '/api/worker/pool/register',
      summary: 'A worker pool announces itself, or announces itself again',
      access: 'public',
      effect: 'write',
      body: {
        type: 'object',
        required: ['name'],
        properties: {
          name,
          kind,
          component_type: kind,
          uri: { type: 'string', maxLength: 2000, nullable: true },
          status: { type: 'string', maxLength: 50, nullable: true },
          capacity: { type: 'integer', minimum: 0, maximum: 2147483647, nullable: true },
          labels: { type: 'object', nullable: true },
          runtime: { type: 'object', nullable: true },
        },
      },
      responses: { 200: pool, 400: 'malformed' },
      handler: async ({ body }) => {
        const input = body as JsonObject
        const registered = await registerWorkerPool(workerPools, {
          name: input['name'] as string,
          kind: kindOf(input),
          uri: (input['uri'] ?? undefined) as string | undefined,
          status: (input['status'] ?? 'ready') as string,
          labels: input['labels'] ?? null,
          capabilities: input['capabilities'] ?? null,
          capacity: (input['capacity'] ?? undefined) as number | undefined,
          runtime: runtimeOf(input),
        })
        return { body: toBody(registered) }
      },
    },
    {
      method: 'POST',
      path: '/api/worker/pool/heartbeat',
      summary: 'A sign of life of a worker pool; one that is not known is noted',
      access: 'public',
      effect: 'write',
      body: { type: 'object', required: ['name'], properties: { ...names, commands: held } },
      responses: { 200: SAID, 400: 'malformed' },
      handler: async ({ body }) => {
        const input = body as JsonObject
        const name = input['name'] as string
        const known = (input['commands'] ?? undefined) as JsonValue[] | undefined
        const ids = known?.map((id, index) => parseEventId(id, `/commands/${index}`))
        await beatWorkerPool(workerPools, name, kindOf(input))
        if (ids !== undefined) await commands.releaseStrays(name, ids)
        return { body: { status: 'ok', message: 'heartbeat noted' } }
      },
    },
    deregister('POST'),
    deregister('DELETE'),
    {
      method: 'GET',
      path: '/api/worker/pools',
      summary: 'Worker pools that announced themselves',
      access: 'public',
      effect: 'read',
      query: { kind: { type: 'string' }, status: { type: 'string' } },
      responses: { 200: { type: 'object', properties: { items: { type: 'array', items: pool } } } },
      handler: async ({ query }) => {
        const found = await listWorkerPools(workerPools.databases, { kind: query['kind'], status: query['status'] })
        return { body: { items: found.map(toBody), count: found.length } }
      },
    },
  ]
}

function kindOf(input: JsonObject): string {
  return (input['kind'] ?? input['component_type'] ?? 'worker_pool') as string
}

/** The host name stands beside `runtime` in what workers send, and the table has no column for it. */
function runtimeOf(input: JsonObject): JsonValue {
  const runtime = input['runtime'] ?? null
  const hostname = input['hostname']
  if (typeof hostname !== 'string') return runtime
  return { ...(isJsonObject(runtime) ? runtime : {}), hostname }
}

function toBody(it: WorkerPoolView): JsonObject {
  return {
    runtime_id: integerValue(BigInt(it.runtimeId)),
    name: it.name,
    kind: it.kind,
    uri: it.uri,
    status: it.status,
    labels: it.labels,
    capabilities: it.capabilities,
    capacity: it.capacity,
    runtime: it.runtime,
    heartbeat: it.heartbeat,
    created_at: it.createdAt,
    updated_at: it.updatedAt,
    alive: it.isAlive,
    silent_seconds: floatValue(it.silentSeconds),
  }
}
