// Registers, finds, lists, archives catalog entries. Versions are given under a lock per path, and the same
// content again is the same version.
import type { Databases } from '../../db/databases.js'
import { contentDigest } from '../../domain/catalog/catalogDocument.js'
import { refuseDocument } from '../../domain/catalog/violation.js'
import { failureHookOf } from '../../domain/failures/failureHook.js'
import { writeJson } from '../../domain/json/write.js'
import type { Problem } from '../../domain/playbook/plan.js'
import { scheduleOf } from '../../domain/schedules/schedule.js'
import type { OwnSources } from '../../domain/subscriptions/ownSources.js'
import { ownSourceViolations } from '../../domain/subscriptions/subscriptionSource.js'
import { CpError } from '../../errors.js'
import {
  archiveEntries,
  type CatalogFilter,
  type CatalogPage,
  type CatalogVersion,
  hideEntries,
  insertCatalogEntry,
  listCatalog,
  listVersions,
  lockPath,
  newestVersion,
  referencedEntries,
} from '../../stores/catalog/catalogStore.js'
import { putOnFailure } from '../../stores/failures/failureHookStore.js'
import { followNewest, type NewestScheduleDeps, setSchedule } from '../schedules/newestSchedule.js'
import type { CatalogDocuments } from './catalogDocuments.js'
import { REMOVE_AFTER_SECONDS } from './catalogRemoval.js'

export type { CatalogEntry } from '../../stores/catalog/catalogStore.js'

export interface CatalogDeps {
  databases: Databases
  documents: Pick<CatalogDocuments, 'read' | 'ofEntry'>
  ids: { next(): string }
  /** What no subscription may read. */
  own: OwnSources
}

export interface Registered {
  path: string
  version: number
  catalogId: string
  kind: string
  /** False when the newest version already said the same. */
  created: boolean
  warnings: readonly RegistrationWarning[]
}

/** An incomplete playbook is registered all the same: this is what an execution of it would be refused by. */
export interface RegistrationWarning {
  /** JSON pointer. */
  path: string
  message: string
  severity: Problem['severity']
}

export interface RegisterRequest {
  content: string
  resourceType?: string | undefined
  /** A new version even if nothing changed. */
  force?: boolean | undefined
  /** Refused when the document is of another path. */
  onlyPath?: string | undefined
}

export async function registerEntry(deps: CatalogDeps, request: RegisterRequest): Promise<Registered> {
  const document = await deps.documents.read(request.content, request.resourceType)
  if (request.onlyPath !== undefined && document.path !== request.onlyPath) {
    throw new CpError(
      'refused',
      `the document is of the path ${document.path}, not ${request.onlyPath}; register it as new`,
    )
  }
  const violations = ownSourceViolations(document.subscription, deps.own)
  if (violations.length > 0) throw refuseDocument('the catalog document', violations)
  const schedule = document.kind === 'playbook' ? scheduleOf(document.value()) : undefined
  const hook = document.kind === 'playbook' ? failureHookOf(document.value()) : undefined
  const digest = contentDigest(document.content)
  return deps.databases.cluster.db.tx(async (tx) => {
    await lockPath(tx, document.path)
    const newest = await newestVersion(tx, document.path)
    const same =
      newest !== undefined &&
      newest.archived_at === null &&
      newest.kind.toLowerCase() === document.kind &&
      (newest.content_digest ?? contentDigest(newest.content ?? '')) === digest
    const warnings = document.problems.map(({ pointer, message, severity }) => ({ path: pointer, message, severity }))
    const found = { path: document.path, kind: document.kind, warnings }
    // The newest version decides, also when it was registered before schedules were known.
    await setSchedule(tx, document.path, schedule)
    if (same && request.force !== true) {
      return { ...found, version: newest.version, catalogId: newest.catalog_id, created: false }
    }
    const entry = { catalogId: deps.ids.next(), version: (newest?.version ?? 0) + 1 }
    await insertCatalogEntry(tx, {
      ...entry,
      path: document.path,
      kind: document.kind,
      content: document.content,
      layout: document.layout,
      payload: document.payload,
      meta: document.meta,
      digest,
    })
    if (hook !== undefined) await putOnFailure(tx, entry.catalogId, writeJson(hook))
    return { ...found, ...entry, created: true }
  })
}

export function listEntries(deps: { databases: Databases }, filter: CatalogFilter): Promise<CatalogPage> {
  return listCatalog(deps.databases.cluster.db, { ...filter, kind: filter.kind?.toLowerCase() ?? null })
}

export interface Removed {
  removed: (CatalogVersion & { archived: boolean })[]
}

export interface RemovalDeps extends NewestScheduleDeps {
  databases: Databases
}

/** Entries that some execution was started from are archived, so that its history stays readable. */
export async function deleteEntry(deps: RemovalDeps, path: string, version: number | undefined): Promise<Removed> {
  const { databases } = deps
  const versions = await listVersions(databases.cluster.db, path, version, false)
  if (versions.length === 0) return { removed: [] }
  const ids = versions.map((row) => row.catalog_id)
  const used = await databases.fanOut((db) => referencedEntries(db, ids))
  const inUse = new Set(used.answers.flatMap((answer) => answer.value))
  // A shard that cannot be asked may hold references: archiving is the answer that can be taken back.
  const archived = ids.filter((id) => used.failures.length > 0 || inUse.has(id))
  const deleted = ids.filter((id) => !archived.includes(id))
  await databases.cluster.db.tx(async (tx) => {
    await lockPath(tx, path)
    await archiveEntries(tx, archived, true)
    // A start that has just found one of them may still commit: they leave the table when that is known.
    await hideEntries(tx, deleted, REMOVE_AFTER_SECONDS)
    await followNewest(deps, tx, path)
  })
  return { removed: versions.map((row) => ({ ...row, archived: archived.includes(row.catalog_id) })) }
}

export async function restoreEntry(deps: RemovalDeps, path: string, version: number | undefined): Promise<Removed> {
  const { db } = deps.databases.cluster
  const versions = await listVersions(db, path, version, true)
  const ids = versions.map((row) => row.catalog_id)
  await db.tx(async (tx) => {
    await lockPath(tx, path)
    await archiveEntries(tx, ids, false)
    await followNewest(deps, tx, path)
  })
  return { removed: versions.map((row) => ({ ...row, archived: false })) }
}
