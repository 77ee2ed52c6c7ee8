// The OpenAPI document, made from the same route list that the server mounts: what is checked is what is described.
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json/value.js'
import { SESSION_COOKIE } from './callers.js'
import type { Access, RouteSpec } from './route.js'
import type { Schema } from './schema.js'

export function openApiDocument(routes: readonly RouteSpec[], version: string): JsonObject {
  const paths: JsonObject = {}
  const tags = new Set<string>()
  for (const route of routes.filter(({ access }) => access !== 'page')) {
    const path = route.path.replace(PARAMETER, '{$1}')
    const item = isJsonObject(paths[path]) ? paths[path] : {}
    item[route.method.toLowerCase()] = operation(route)
    paths[path] = item
    tags.add(tagOf(route))
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'noetl-cp',
      version,
      description:
        'Event-sourced control plane for workflow executions. Errors are {"error": text, "status": code, "detail": text or object}. ' +
        '64-bit ids are numbers, or text for browsers and with ?ids=string.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The daemon that serves this document' }],
    tags: [...tags].sort().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        api: { type: 'http', scheme: 'bearer', description: 'NOETL_API_TOKEN; none is needed where none is set' },
        viewer: { type: 'http', scheme: 'bearer', description: 'NOETL_VIEWER_TOKEN; reads only' },
        internal: { type: 'http', scheme: 'bearer', description: 'NOETL_INTERNAL_API_TOKEN' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'A session of the console; what changes anything also needs X-Noetl-Csrf: 1 from a page of ours',
        },
      },
      schemas: { Error: ERROR_SCHEMA },
    },
  }
}

const PARAMETER = /:(\w+)\+?/g

/** `GET /api/executions/:execution_id/status` → getExecutionsByExecutionIdStatus. Clients are generated from these names. */
export function operationId({ method, path }: Pick<RouteSpec, 'method' | 'path'>): string {
  const words = (path.startsWith('/api/') ? path.slice('/api'.length) : `/daemon${path}`)
    .replace(PARAMETER, 'by_$1')
    .split(/[^a-zA-Z0-9]+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error', 'status', 'detail'],
  properties: {
    error: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: ['string', 'object'], description: 'the same text, or an object' },
  },
}

/** The internal token is good wherever the other is. An API without tokens asks for none. */
const SECURITY: Readonly<Record<Access, JsonValue[]>> = {
  open: [],
  page: [],
  public: [{ api: [] }, { internal: [] }, { session: [] }, {}],
  operator: [{ internal: [] }, { session: [] }],
  internal: [{ internal: [] }],
}

function securityOf({ access, effect }: RouteSpec): JsonValue[] {
  return access === 'public' && effect === 'read' ? [{ viewer: [] }, ...SECURITY.public] : SECURITY[access]
}

function operation(route: RouteSpec): JsonObject {
  const parameters: JsonValue[] = [...route.path.matchAll(PARAMETER)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  for (const [name, { description, ...schema }] of Object.entries(route.query ?? {})) {
    const about = description === undefined ? {} : { description }
    parameters.push({ name, in: 'query', required: false, ...about, schema: toDocument(schema) })
  }
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [tagOf(route)],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: route.bodyOptional !== true, content: json(toDocument(route.body)) } }),
    responses: responsesOf(route),
  }
}

function tagOf({ path }: RouteSpec): string {
  return path.startsWith('/api/') ? path.split('/')[2]! : 'daemon'
}

function responsesOf(route: RouteSpec): JsonObject {
  const responses: JsonObject = {}
  for (const [status, described] of Object.entries(route.responses)) {
    const error = Number(status) >= 400 ? { content: json({ $ref: '#/components/schemas/Error' }) } : {}
    responses[status] =
      typeof described === 'string'
        ? { description: described, ...error }
        : { description: described.description ?? 'ok', content: json(toDocument(described)) }
  }
  responses['default'] = { description: 'any other error', content: json({ $ref: '#/components/schemas/Error' }) }
  return responses
}

function json(schema: JsonValue): JsonObject {
  return { 'application/json': { schema } }
}

/** Our small dialect as JSON Schema: there `nullable` is a type of its own, and an id is a number or its text. */
function toDocument({ nullable, properties, items, type, ...rest }: Schema): JsonObject {
  const types = type !== undefined ? [type] : rest.format === 'int64' ? ['string', 'integer'] : []
  if (nullable === true && types.length > 0) types.push('null')
  return {
    ...(types.length === 0 ? {} : { type: types.length === 1 ? types[0]! : types }),
    ...(JSON.parse(JSON.stringify(rest)) as JsonObject),
    ...(items === undefined ? {} : { items: toDocument(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, toDocument(inner)])),
        }),
  }
}
