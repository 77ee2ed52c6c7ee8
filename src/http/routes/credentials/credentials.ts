// Credentials over HTTP. Values are answered to the internal token alone.
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import {
  type Credential,
  type CredentialsDeps,
  everyCredential,
  openCredential,
  removeCredential,
  showCredential,
  shownCredential,
  storeCredential,
} from '../../../services/credentials/credentials.js'
import { queryBoolean } from '../../query.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import { answerOf, TEXT } from '../../schema.js'

export interface CredentialRouteDeps {
  credentials: CredentialsDeps
}

const credential = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    type: { type: 'string' },
    data: { type: 'object', nullable: true, description: 'null unless asked for with the internal token' },
  },
} as const

export function credentialRoutes({ credentials }: CredentialRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/credentials',
      summary: 'Store a credential under its name, or replace it',
      access: 'internal',
      effect: 'write',
      hidesBody: true,
      body: {
        type: 'object',
        required: ['name', 'type', 'data'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 255 },
          type: { type: 'string', minLength: 1, maxLength: 100 },
          data: { type: 'object' },
          meta: { type: 'object', nullable: true },
          tags: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 255 }, nullable: true },
          description: { type: 'string', maxLength: 4000, nullable: true },
        },
      },
      responses: { 200: credential, 400: 'malformed', 503: 'no key to seal it with, or the database is away' },
      handler: async ({ body }) => {
        const { name, type, data, meta, tags, description } = body as JsonObject
        const stored = await storeCredential(credentials, {
          name: name as string,
          type: type as string,
          data: data as JsonObject,
          meta: meta ?? undefined,
          tags: (tags ?? []) as string[],
          description: (description ?? undefined) as string | undefined,
        })
        return { body: toBody(stored, null), about: { kind: 'credential', id: stored.name } }
      },
    },
    {
      method: 'GET',
      path: '/api/credentials',
      summary: 'The credentials, without their values',
      access: 'public',
      effect: 'read',
      showsAll: true,
      query: {
        type: { type: 'string' },
        q: { type: 'string', description: 'part of the name' },
        include_data: { type: 'boolean', description: 'with their values; needs the internal token' },
      },
      responses: { 200: { type: 'object', properties: { items: { type: 'array', items: credential } } } },
      handler: async ({ query, isInternal }) => {
        const withData = wantsData(query, isInternal)
        const items = (await everyCredential(credentials.databases, query['type'])).filter((item) =>
          item.name.includes(query['q'] ?? ''),
        )
        return {
          body: {
            items: await Promise.all(
              items.map(async (item) =>
                toBody(item, withData ? (await openCredential(credentials, item.name)).data : null),
              ),
            ),
            filter: { type: query['type'] ?? null, q: query['q'] ?? null },
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/credentials/:name',
      summary: 'One credential by name or id; its values with include_data and the internal token',
      access: 'public',
      effect: 'read',
      query: { include_data: { type: 'boolean' }, execution_id: { format: 'int64' } },
      // Whoever may read the values needs them as they are.
      showsAll: true,
      responses: { 200: credential, 403: 'values need the internal token', 404: 'no such credential' },
      handler: async ({ params, query, isInternal }) => {
        const name = params['name']!
        if (!wantsData(query, isInternal))
          return { body: toBody(await showCredential(credentials.databases, name), null) }
        const opened = await openCredential(credentials, name, query['execution_id'])
        return { body: toBody(opened.credential, opened.data) }
      },
    },
    {
      method: 'DELETE',
      path: '/api/credentials/:name',
      summary: 'Forget a credential',
      access: 'internal',
      effect: 'write',
      responses: { 200: answerOf({ status: TEXT, name: TEXT }), 404: 'no such credential' },
      handler: async ({ params }) => {
        await removeCredential(credentials.databases, params['name']!)
        return { body: { status: 'deleted', name: params['name']! } }
      },
    },
  ]
}

function wantsData(query: ApiRequest['query'], isInternal: boolean): boolean {
  const wants = queryBoolean(query['include_data'], false)
  if (wants && !isInternal) throw new CpError('forbidden', 'the values of a credential need the internal token')
  return wants
}

function toBody(it: Credential, data: JsonValue): JsonObject {
  return { ...shownCredential(it), data }
}
