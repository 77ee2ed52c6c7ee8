// The catalog routes of the NoETL server, plus paging and identical-content detection.

import { parseVersion } from '../../../domain/catalog/wantedVersion.js'
import { parseWireTime, wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseCatalogId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { CpError } from '../../../errors.js'
import { createTurns } from '../../../runtime/turns.js'
import {
  type CatalogDeps,
  type CatalogEntry,
  deleteEntry,
  listEntries,
  type Registered,
  type Removed,
  registerEntry,
  restoreEntry,
} from '../../../services/catalog/catalog.js'
import { findEntry } from '../../../services/catalog/findEntry.js'
import type { ApiReply, RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, FLAG, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface CatalogRouteDeps {
  catalog: CatalogDeps
  /** Where a page of large things ends. */
  pageBytes: number
}

const LIST_MAX = 1_000

const WHICH: Schema = {
  type: 'object',
  required: ['path'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 512 },
    version: { description: 'number or text; without it every version', nullable: true },
    reason: { type: 'string', nullable: true, maxLength: 2000, description: 'kept in the activity' },
  },
}

export function catalogRoutes({ catalog, pageBytes }: CatalogRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/catalog/register',
      summary: 'Register a document (YAML, or base64 of it); the same content again is the same version',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      body: {
        type: 'object',
        required: ['content'],
        properties: {
          content: { type: 'string', minLength: 1 },
          resource_type: { type: 'string', nullable: true },
          force: { type: 'boolean', description: 'a new version even if nothing changed' },
        },
      },
      responses: { 200: REGISTERED, 422: 'the document has violations; all are listed' },
      handler: async ({ body }) => {
        const given = body as JsonObject
        const done = await registerEntry(catalog, {
          content: given['content'] as string,
          resourceType: typeof given['resource_type'] === 'string' ? given['resource_type'] : undefined,
          force: given['force'] === true,
        })
        return registeredReply(done)
      },
    },
    {
      method: 'POST',
      path: '/api/catalog/list',
      showsAll: true,
      summary: 'Entries, newest first; the kind is compared without case',
      access: 'public',
      effect: 'read',
      body: {
        type: 'object',
        properties: {
          resource_type: { type: 'string', nullable: true },
          path: { type: 'string', nullable: true, maxLength: 512, description: 'versions of this one alone' },
          include_archived: { type: 'boolean' },
          newest_only: {
            type: 'boolean',
            description: 'the newest version of each path alone, with how many versions there are',
          },
          limit: { type: 'integer', minimum: 1, maximum: LIST_MAX },
          include_content: {
            type: 'boolean',
            default: true,
            description: 'false leaves out content, layout and payload',
          },
          cursor: { type: 'string', nullable: true, description: 'next_cursor of the page before' },
        },
      },
      bodyOptional: true,
      isLarge: true,
      responses: {
        200: answerOf(
          { entries: { type: 'array', items: LISTED }, next_cursor: TEXT },
          'entries; next_cursor when there are more, also after a page that large documents ended early',
        ),
      },
      handler: async ({ body }) => {
        const given = isJsonObject(body) ? body : {}
        const includeContent = given['include_content'] !== false
        const { entries, hasMore } = await listEntries(catalog, {
          kind: typeof given['resource_type'] === 'string' ? given['resource_type'] : null,
          path: typeof given['path'] === 'string' ? given['path'] : undefined,
          includeArchived: given['include_archived'] === true,
          newestOnly: given['newest_only'] === true,
          after: typeof given['cursor'] === 'string' ? parseCursor(given['cursor']) : null,
          limit: typeof given['limit'] === 'number' ? given['limit'] : LIST_MAX,
          includeContent,
          bytesMax: pageBytes,
        })
        const texts: string[] = []
        const turns = createTurns()
        for (const entry of entries) {
          const { versions } = entry
          texts.push(entryText(entry, includeContent, versions === null ? {} : { versions }))
          await turns.rest()
        }
        const last = entries[entries.length - 1]
        const next = hasMore && last !== undefined ? `,"next_cursor":${JSON.stringify(formatCursor(last))}` : ''
        return { bytes: Buffer.from(`{"entries":[${texts.join(',')}]${next}}`) }
      },
    },
    {
      method: 'POST',
      path: '/api/catalog/resource',
      showsAll: true,
      summary: 'One entry by catalog_id, or by path and version',
      access: 'public',
      effect: 'read',
      body: {
        type: 'object',
        properties: {
          catalog_id: { format: 'int64', nullable: true },
          path: { type: 'string', nullable: true },
          version: { nullable: true, description: '"latest", a number, or its text' },
        },
      },
      responses: { 200: ENTRY, 404: 'no such entry', 422: 'neither catalog_id nor path' },
      handler: async ({ body }) => {
        const given = body as JsonObject
        const entry = await findEntry(catalog, {
          catalogId: given['catalog_id'] == null ? undefined : parseCatalogId(given['catalog_id'], '/catalog_id'),
          path: typeof given['path'] === 'string' ? given['path'] : undefined,
          version: parseVersion(given['version']),
        })
        return { bytes: Buffer.from(entryText(entry, true)) }
      },
    },
    {
      method: 'POST',
      path: '/api/catalog/delete',
      summary: 'Delete versions; those in use are archived instead',
      access: 'operator',
      effect: 'write',
      body: WHICH,
      responses: { 200: REMOVED },
      handler: async ({ body }) => {
        const given = body as JsonObject
        const path = given['path'] as string
        const done = await deleteEntry(catalog, path, parseVersion(given['version']))
        return { body: removedAnswer(path, done, 'Removed'), about: { kind: 'catalog', id: path } }
      },
    },
    {
      method: 'POST',
      path: '/api/catalog/restore',
      summary: 'Bring archived versions back',
      access: 'operator',
      effect: 'write',
      body: WHICH,
      responses: { 200: REMOVED },
      handler: async ({ body }) => {
        const given = body as JsonObject
        const path = given['path'] as string
        const done = await restoreEntry(catalog, path, parseVersion(given['version']))
        return { body: removedAnswer(path, done, 'Restored'), about: { kind: 'catalog', id: path } }
      },
    },
  ]
}

const ENTRY_FIELDS = {
  catalog_id: TEXT,
  path: TEXT,
  kind: TEXT,
  version: COUNT,
  content: TEXT_OR_NULL,
  layout: ANY,
  payload: ANY,
  meta: ANY,
  created_at: TEXT,
  archived_at: TEXT_OR_NULL,
}
const ENTRY = answerOf(ENTRY_FIELDS)
const LISTED = answerOf({ ...ENTRY_FIELDS, versions: { type: 'integer', description: 'with newest_only' } })

const REMOVED = answerOf(
  {
    status: TEXT,
    message: TEXT,
    path: TEXT,
    deleted: { type: 'array', items: answerOf({ catalog_id: TEXT, version: COUNT, archived: FLAG }) },
    count: COUNT,
  },
  'count 0 when nothing matched',
)

export const REGISTERED: Schema = {
  type: 'object',
  properties: {
    status: { type: 'string' },
    message: { type: 'string' },
    path: { type: 'string' },
    version: { type: 'integer' },
    catalog_id: { type: 'string' },
    kind: { type: 'string' },
    created: { type: 'boolean' },
    warnings: { type: 'array', items: { type: 'object' } },
  },
}

export function registeredReply(done: Registered): ApiReply {
  return { body: registeredOf(done), about: { kind: 'catalog', id: done.path } }
}

function registeredOf(done: Registered): JsonObject {
  return {
    status: 'success',
    message: `Resource '${done.path}' version '${done.version}' ${done.created ? 'registered' : 'unchanged'}.`,
    path: done.path,
    version: done.version,
    catalog_id: done.catalogId,
    kind: done.kind,
    created: done.created,
    ...(done.warnings.length === 0 ? {} : { warnings: done.warnings.map((warning) => ({ ...warning })) }),
  }
}

function removedAnswer(path: string, { removed }: Removed, verb: string): JsonObject {
  return {
    status: 'success',
    message: `${verb} ${removed.length} version(s) of catalog entry '${path}'.`,
    path,
    deleted: removed.map((row) => ({ catalog_id: row.catalog_id, version: row.version, archived: row.archived })),
    count: removed.length,
  }
}

/** Put together as text: the parts of a document are JSON already, and reading them would only cost time. */
function entryText(entry: CatalogEntry, withDocument: boolean, more: JsonObject = {}): string {
  const { catalog_id, path, kind, version, content, layout, payload, meta } = entry
  const head = writeJson({ catalog_id, path, kind, version })
  const rest = writeJson({
    created_at: wireTimeFromPostgres(entry.created_at, 'created_at'),
    archived_at: entry.archived_at === null ? null : wireTimeFromPostgres(entry.archived_at, 'archived_at'),
    ...more,
  })
  const document = `"content":${writeJson(content)},"layout":${layout},"payload":${payload},`
  return `${head.slice(0, -1)},${withDocument ? document : ''}"meta":${meta},${rest.slice(1)}`
}

function formatCursor(entry: CatalogEntry): string {
  return Buffer.from(`${entry.created_at}|${entry.catalog_id}`).toString('base64url')
}

function parseCursor(text: string): { createdAt: string; catalogId: string } {
  const [createdAt, catalogId] = Buffer.from(text, 'base64url').toString('utf8').split('|')
  if (createdAt === undefined || catalogId === undefined || parseWireTime(createdAt, '/cursor') === undefined)
    throw new CpError('invalid_input', '/cursor is not one of ours; start without it')
  return { createdAt, catalogId: parseCatalogId(catalogId, '/cursor') }
}
