// The catalog as a daemon answers it, in the rows that the commands show.
import type { JsonValue } from '../../domain/json/value.js'
import type { CatalogEntry, Registered, RegisterRequest, Removed } from '../../services/catalog/catalog.js'
import type { UsedBy } from '../../services/catalog/usedBy.js'
import { collectPages, given, type RemoteClient } from '../remote.js'

export type EntrySummary = Pick<CatalogEntry, 'catalog_id' | 'path' | 'version' | 'kind' | 'created_at' | 'archived_at'>

export interface EntryShown extends EntrySummary {
  content: string | null
  payload: JsonValue
  layout: JsonValue
  meta: JsonValue
}

export async function registerRemotely(
  remote: RemoteClient,
  { content, resourceType, force }: RegisterRequest,
): Promise<Registered> {
  const body = { content, ...given({ resource_type: resourceType, force }) }
  const done = await remote.call('postCatalogRegister', { body })
  return {
    path: done.path!,
    version: done.version!,
    catalogId: done.catalog_id!,
    kind: done.kind!,
    created: done.created!,
    warnings: (done.warnings ?? []) as unknown as Registered['warnings'],
  }
}

export async function entriesRemotely(
  remote: RemoteClient,
  asked: { kind: string | undefined; includeArchived: boolean; limit: number },
): Promise<{ entries: EntrySummary[]; hasMore: boolean }> {
  const { rows, next } = await collectPages<EntrySummary, string>(asked.limit, undefined, async (cursor, limit) => {
    const { entries = [], next_cursor: after } = await remote.call('postCatalogList', {
      body: {
        ...given({ resource_type: asked.kind, cursor }),
        include_archived: asked.includeArchived,
        include_content: false,
        limit,
      },
    })
    return { rows: entries as EntrySummary[], next: after }
  })
  return { entries: rows, hasMore: next !== undefined }
}

export async function entryRemotely(
  remote: RemoteClient,
  which: { catalogId: string | undefined; path: string | undefined; version: number | undefined },
): Promise<EntryShown> {
  const body = given({ catalog_id: which.catalogId, path: which.path, version: which.version })
  return (await remote.call('postCatalogResource', { body })) as EntryShown
}

export async function removedRemotely(
  remote: RemoteClient,
  operation: 'postCatalogDelete' | 'postCatalogRestore',
  { path, version, reason }: { path: string; version: number | undefined; reason: string | undefined },
): Promise<Removed> {
  const { deleted = [] } = await remote.call(operation, { body: { path, ...given({ version, reason }) } })
  return { removed: deleted as unknown as Removed['removed'] }
}

export async function usedByRemotely(remote: RemoteClient, path: string): Promise<UsedBy> {
  return (await remote.call('getCatalogUsedBy', { query: { path } })) as UsedBy
}
