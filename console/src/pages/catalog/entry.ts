// Entries of the catalog as the API has them, and where each is shown.
import { send } from '../../lib/api'
import { hrefOf } from '../../lib/router'

export interface EntryHead {
  catalog_id: string
  path: string
  kind: string
  version: number
  created_at: string
  archived_at: string | null
}

/** A path; the newest of its versions stands for it. */
export interface Listed extends EntryHead {
  versions: number
}

export interface Entry extends EntryHead {
  content: string | null
  /** `workflow` of the document. */
  layout: unknown
}

export interface Problem {
  pointer: string
  severity: string
  message: string
  /** From 1. */
  line?: number | null
  column?: number | null
}

export function isError({ severity }: Problem): boolean {
  return severity === 'error'
}

interface Page<T> {
  entries: T[]
  next_cursor?: string
}

/** So many are looked at; where there are more it says so. */
export const ENTRIES_MAX = 5_000

export interface EntryList<T> {
  entries: T[]
  hasMore: boolean
}

/** Every path once. */
export function loadPaths(hasArchived: boolean, signal: AbortSignal): Promise<EntryList<Listed>> {
  return loadList({ newest_only: true, include_archived: hasArchived }, signal)
}

/** Archived ones, too. */
export function loadVersions(path: string, signal: AbortSignal): Promise<EntryList<EntryHead>> {
  return loadList({ path, include_archived: true }, signal)
}

async function loadList<T>(wanted: object, signal: AbortSignal): Promise<EntryList<T>> {
  const entries: T[] = []
  let cursor: string | undefined
  do {
    const asked = { ...wanted, include_content: false, cursor }
    const page = await send<Page<T>>('POST', '/api/catalog/list', asked, signal)
    entries.push(...page.entries)
    cursor = page.next_cursor
  } while (cursor !== undefined && entries.length < ENTRIES_MAX)
  return { entries, hasMore: cursor !== undefined }
}

export function loadEntry(
  wanted: { path: string; version: string } | { catalog_id: string },
  signal: AbortSignal,
): Promise<Entry> {
  return send<Entry>('POST', '/api/catalog/resource', wanted, signal)
}

export async function loadProblems(content: string, kind: string | undefined, signal: AbortSignal): Promise<Problem[]> {
  const asked = { content, resource_type: kind }
  return (await send<{ problems: Problem[] }>('POST', '/api/playbooks/validate', asked, signal)).problems
}

/** Slashes of the path stay slashes of the address; a version stands behind an @, which within a path is encoded. */
export function entryHref(
  path: string,
  { version, ...asked }: Record<string, string | undefined> & { version?: string | undefined } = {},
): string {
  const place = path.split('/').map(encodeURIComponent).join('/')
  return hrefOf(`/catalog/${place}${version === undefined ? '' : `@${version}`}`, asked)
}

/** What entryHref has made; undefined if it is the place of none. */
export function entryAt(place: string): { path: string; version: string | undefined } | undefined {
  const [, path, version] = /^\/catalog\/(.+?)(?:@(\d+))?$/.exec(place) ?? []
  return path === undefined ? undefined : { path: path.split('/').map(decodeURIComponent).join('/'), version }
}

export function uiSchemaPath(path: string): string {
  return `/api/catalog/${path.split('/').map(encodeURIComponent).join('/')}/ui_schema`
}
