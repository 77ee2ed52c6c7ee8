// What editors and forms ask of the catalog: the text of a playbook, its form, its mistakes, and which agents there are.
import { parseVersion } from '../../../domain/catalog/wantedVersion.js'
import { parseCatalogId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import { type CatalogDeps, listEntries, registerEntry } from '../../../services/catalog/catalog.js'
import { findEntry } from '../../../services/catalog/findEntry.js'
import { type UiSchemaDeps, uiSchemaOf } from '../../../services/catalog/uiSchema.js'
import { type ValidationDeps, validateDocument } from '../../../services/catalog/validation.js'
import type { RouteSpec } from '../../route.js'
import type { Schema } from '../../schema.js'
import { REGISTERED, registeredReply } from './catalog.js'

export interface DocumentRouteDeps {
  catalog: CatalogDeps & UiSchemaDeps & ValidationDeps
  pageBytes: number
  clock: Clock
}

const AGENTS_MAX = 1_000
const text: Schema = { type: 'string', nullable: true }
const playbookId = { type: 'string', description: 'path or catalog id; needed' } as const

const FIELD: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    kind: {
      type: 'string',
      enum: ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null', 'enum'],
    },
    default: { nullable: true },
    description: text,
    secret: { type: 'boolean' },
    credential_glob: text,
    options: { type: 'array', items: { type: 'string' } },
    children: { type: 'array', items: { type: 'object' }, description: 'fields of an object' },
  },
}

export function documentRoutes({ catalog, pageBytes, clock }: DocumentRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/catalog/:path+/ui_schema',
      showsAll: true,
      summary: 'The form of a playbook: a field per key of its workload',
      access: 'public',
      effect: 'read',
      query: { version: { type: 'string', description: '"latest" or a number' } },
      responses: {
        200: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            version: { type: 'integer' },
            kind: { type: 'string' },
            title: { type: 'string' },
            description_markdown: text,
            exposed_in_ui: { type: 'boolean' },
            fields: { type: 'array', items: FIELD },
            generated_at: { type: 'string', format: 'date-time' },
          },
        },
        404: 'no such entry',
      },
      handler: async ({ params, query }) => ({
        body: await uiSchemaOf(catalog, clock, { path: params['path']!, version: parseVersion(query['version']) }),
      }),
    },
    {
      method: 'GET',
      path: '/api/catalog/playbook/content',
      showsAll: true,
      summary: 'The text of a playbook, newest version or by catalog id',
      access: 'public',
      effect: 'read',
      query: { playbook_id: playbookId },
      responses: {
        200: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            version: { type: 'integer' },
            catalog_id: { type: 'string' },
            kind: { type: 'string' },
            content: text,
          },
        },
        400: 'no playbook_id',
        404: 'no such entry',
      },
      handler: async ({ query }) => {
        const { path, version, catalog_id, kind, content } = await findEntry(catalog, wanted(query['playbook_id']))
        return { body: { path, version, catalog_id, kind, content } }
      },
    },
    {
      method: 'PUT',
      path: '/api/catalog/playbook/content',
      summary: 'A new version of a playbook from its text; the text must be of the same path',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      query: { playbook_id: playbookId },
      body: { type: 'object', required: ['content'], properties: { content: { type: 'string', minLength: 1 } } },
      responses: { 200: REGISTERED, 404: 'no such entry', 422: 'the document has violations, or another path' },
      handler: async ({ query, body }) => {
        const { path, kind } = await findEntry(catalog, wanted(query['playbook_id']))
        const content = (body as JsonObject)['content'] as string
        return registeredReply(await registerEntry(catalog, { content, resourceType: kind, onlyPath: path }))
      },
    },
    {
      method: 'POST',
      path: '/api/catalog/playbooks/validate',
      summary: 'Whether a document could be run, and the mistakes that are in its way',
      access: 'public',
      effect: 'read',
      bodySize: 'event',
      body: { type: 'object', required: ['content'], properties: { content: { type: 'string', minLength: 1 } } },
      responses: {
        200: {
          type: 'object',
          properties: {
            valid: { type: 'boolean' },
            errors: { type: 'array', items: { type: 'string' } },
            warnings: { type: 'array', items: { type: 'string' } },
          },
        },
      },
      handler: async ({ body }) => {
        const { valid, problems } = await validateDocument(catalog, (body as JsonObject)['content'] as string)
        const said = (isError: boolean) =>
          problems
            .filter(({ severity }) => (severity === 'error') === isError)
            .map(({ pointer, message }) => `${pointer} ${message}`.trim())
        return { body: { valid, errors: said(true), warnings: said(false) } }
      },
    },
    {
      method: 'POST',
      path: '/api/catalog/agents/list',
      showsAll: true,
      summary: 'Entries of kind agent, newest first, without their documents',
      access: 'public',
      effect: 'read',
      body: { type: 'object', properties: { limit: { type: 'integer', minimum: 1, maximum: AGENTS_MAX } } },
      bodyOptional: true,
      responses: {
        200: { type: 'object', properties: { entries: { type: 'array', items: { type: 'object' } } } },
      },
      handler: async ({ body }) => {
        const limit = isJsonObject(body) && typeof body['limit'] === 'number' ? body['limit'] : AGENTS_MAX
        const { entries } = await listEntries(catalog, {
          kind: 'agent',
          includeArchived: false,
          after: null,
          limit,
          includeContent: false,
          bytesMax: pageBytes,
        })
        return {
          body: {
            entries: entries.map(({ catalog_id, path, version, kind }) => ({ catalog_id, path, version, kind })),
          },
        }
      },
    },
  ]
}

/** Paths have letters; what is a number is an id. */
function wanted(id: string | undefined): { catalogId: string } | { path: string } {
  if (id === undefined || id === '') throw new CpError('invalid_input', 'query parameter playbook_id is missing')
  return /^\d+$/.test(id) ? { catalogId: parseCatalogId(id, 'playbook_id') } : { path: id }
}
