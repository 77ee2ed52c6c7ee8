// The OpenAPI document, made from the same route list that the server mounts.
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json/value.js'
import type { RouteSpec } from './route.js'
import type { Schema } from './schema.js'

export function openApiDocument(routes: readonly RouteSpec[], version: string): JsonObject {
  const paths: JsonObject = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)\+?/g, '{$1}')
    const item = isJsonObject(paths[path]) ? paths[path] : {}
    item[route.method.toLowerCase()] = operation(route)
    paths[path] = item
  }
  return {
    openapi: '3.0.3',
    info: {
      title: 'noetl-cp',
      version,
      description: 'Event-sourced control plane for workflow executions. Errors are {"error": text, "status": code}.',
    },
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR_SCHEMA },
    },
  }
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error', 'status', 'detail'],
  properties: {
    error: { type: 'string' },
    status: { type: 'integer' },
    detail: { description: 'the same text, or an object' },
  },
}

function operation(route: RouteSpec): JsonObject {
  const parameters: JsonValue[] = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  for (const [name, schema] of Object.entries(route.query ?? {})) {
    parameters.push({ name, in: 'query', required: false, schema: toDocument(schema) })
  }
  const responses: JsonObject = {}
  for (const [status, description] of Object.entries(route.responses)) {
    responses[status] =
      typeof description === 'string'
        ? { description, ...(Number(status) >= 400 ? { content: json({ $ref: '#/components/schemas/Error' }) } : {}) }
        : { description: description.description ?? 'ok', content: json(toDocument(description)) }
  }
  return {
    summary: route.summary,
    tags: [route.path.split('/')[2] ?? 'daemon'],
    ...(route.access === 'open' ? {} : { security: [{ bearer: [] }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: route.bodyOptional !== true, content: json(toDocument(route.body)) } }),
    responses,
  }
}

function json(schema: JsonValue): JsonObject {
  return { 'application/json': { schema } }
}

function toDocument(schema: Schema): JsonValue {
  return JSON.parse(JSON.stringify(schema)) as JsonValue
}
