// The catalog of playbooks and subscriptions, in the cluster database.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'catalog_lock_path',
  'catalog_newest',
  'catalog_insert',
  'catalog_get',
  'catalog_path',
  'catalog_names',
  'catalog_ids',
  'catalog_counts',
  'catalog_list',
  'catalog_versions',
  'catalog_referenced',
  'catalog_hide',
  'catalog_removable',
  'catalog_keep',
  'catalog_remove',
  'catalog_archive',
  'catalog_mentioning',
)

export interface CatalogEntry {
  catalog_id: string
  path: string
  version: number
  kind: string
  content: string | null
  /** JSON texts: a document may be large, and most who ask for it only hand it on. */
  layout: string | null
  payload: string | null
  meta: string | null
  created_at: string
  archived_at: string | null
}

export interface NewestVersion {
  catalog_id: string
  version: number
  content: string | null
  content_digest: string | null
  kind: string
  archived_at: string | null
}

/** Serialises registrations of one path. */
export async function lockPath(tx: Tx, path: string): Promise<void> {
  await tx.run(q.catalog_lock_path, [path])
}

export async function newestVersion(tx: Tx, path: string): Promise<NewestVersion | undefined> {
  const [row] = await tx.run<NewestVersion>(q.catalog_newest, [path])
  return row
}

export interface NewCatalogEntry {
  catalogId: string
  path: string
  version: number
  kind: string
  content: string
  /** JSON texts. */
  layout: string | undefined
  payload: string | undefined
  meta: string | undefined
  digest: string
}

export async function insertCatalogEntry(tx: Tx, entry: NewCatalogEntry): Promise<void> {
  await tx.run(q.catalog_insert, [
    entry.catalogId,
    entry.path,
    entry.version,
    entry.kind,
    entry.content,
    entry.layout ?? null,
    entry.payload ?? null,
    entry.meta ?? null,
    entry.digest,
  ])
}

export async function getCatalogEntry(
  db: Queryable,
  want: { catalogId?: string | undefined; path?: string | undefined; version?: number | undefined },
): Promise<CatalogEntry | undefined> {
  const [row] = await db.run<CatalogEntry>(q.catalog_get, [
    want.catalogId ?? null,
    want.path ?? null,
    want.version ?? null,
  ])
  return row
}

export async function pathOfEntry(db: Queryable, catalogId: string): Promise<string | undefined> {
  const [row] = await db.run<{ path: string }>(q.catalog_path, [catalogId])
  return row?.path
}

export interface EntryName {
  catalog_id: string
  path: string
  version: number
}

export function namesOfEntries(db: Queryable, ids: readonly string[]): Promise<EntryName[]> {
  return db.run<EntryName>(q.catalog_names, [ids])
}

export function countEntries(db: Queryable): Promise<{ kind: string; count: number }[]> {
  return db.run(q.catalog_counts)
}

export interface CatalogFilter {
  kind: string | null
  /** Versions of this one alone. */
  path?: string | undefined
  includeArchived: boolean
  /** Of each path the newest version alone. */
  newestOnly?: boolean | undefined
  after: { createdAt: string; catalogId: string } | null
  limit: number
  /** Without it content, layout and payload are null. */
  includeContent: boolean
  /** The page ends early when its documents reach this. */
  bytesMax: number
}

export interface ListedEntry extends CatalogEntry {
  /** How many its path has; where the newest alone was asked for. */
  versions: number | null
}

export interface CatalogPage {
  entries: ListedEntry[]
  hasMore: boolean
}

export async function listCatalog(db: Queryable, filter: CatalogFilter): Promise<CatalogPage> {
  const rows = await db.run<ListedEntry & { found: number }>(q.catalog_list, [
    filter.kind,
    filter.path ?? null,
    filter.includeArchived,
    filter.newestOnly ?? false,
    filter.after?.createdAt ?? null,
    filter.after?.catalogId ?? null,
    // One more than asked for tells whether there is a next page.
    filter.limit + 1,
    filter.includeContent,
    filter.bytesMax,
  ])
  const entries = rows.slice(0, filter.limit)
  return { entries, hasMore: (rows[0]?.found ?? 0) > entries.length }
}

export interface CatalogVersion {
  catalog_id: string
  version: number
}

export function listVersions(
  db: Queryable,
  path: string,
  version: number | undefined,
  archived: boolean,
): Promise<CatalogVersion[]> {
  return db.run<CatalogVersion>(q.catalog_versions, [path, version ?? null, archived])
}

export async function referencedEntries(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.run<{ catalog_id: string }>(q.catalog_referenced, [ids])
  return rows.map((row) => row.catalog_id)
}

/** For readers they are gone; the rows stay for so long. */
export async function hideEntries(tx: Tx, ids: readonly string[], seconds: number): Promise<void> {
  await tx.run(q.catalog_hide, [ids, seconds])
}

export async function removableEntries(db: Queryable, limit: number): Promise<string[]> {
  const rows = await db.run<{ catalog_id: string }>(q.catalog_removable, [limit])
  return rows.map((row) => row.catalog_id)
}

export async function keepEntries(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run(q.catalog_keep, [ids])
}

export async function removeEntries(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run(q.catalog_remove, [ids])
}

export async function archiveEntries(tx: Tx, ids: readonly string[], archived: boolean): Promise<void> {
  await tx.run(q.catalog_archive, [ids, archived])
}

export interface Mentioning {
  catalog_id: string
  path: string
  version: number
  kind: string
  /** Of the live one of a path, and how it stands. */
  subscription_id: string | null
  state: string | null
}

/** Documents in force that may refer to a path: its text, or an id of it, occurs in them. */
export function listMentioning(db: Queryable, path: string, limit: number): Promise<Mentioning[]> {
  return db.run<Mentioning>(q.catalog_mentioning, [path, limit])
}

export async function idsOfPath(db: Queryable, path: string): Promise<string[]> {
  const rows = await db.run<{ catalog_id: string }>(q.catalog_ids, [path])
  return rows.map((row) => row.catalog_id)
}
