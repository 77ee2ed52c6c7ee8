// Catalog documents as values. Parsing happens in a thread, under a deadline, and once per catalog id while the
// document is remembered: entries never change, a new version has a new id. What is wrong with a document is
// remembered too, so that one that cannot be read is not tried again and again.
import type { Databases } from '../../db/databases.js'
import type { Place } from '../../domain/catalog/documentPlaces.js'
import { parseJson } from '../../domain/json/parse.js'
import type { JsonObject } from '../../domain/json/value.js'
import type { Problem } from '../../domain/playbook/plan.js'
import type { SubscriptionSpec } from '../../domain/subscriptions/subscriptionSpec.js'
import { type CpError, type ErrorCode, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { LruMap } from '../../runtime/lruMap.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import { findEntry } from './findEntry.js'
import type { DocumentTexts } from './inThread/catalogDocument.js'

export interface ParsedDocument {
  path: string
  kind: string
  /** JSON texts, as they are stored. */
  payload: string | undefined
  layout: string | undefined
  meta: string | undefined
  /** Only for kind subscription. Shared by everybody who asks: never changed. */
  subscription: SubscriptionSpec | undefined
  /** What is wrong with it although it can be read: the errors of a playbook that cannot run, and warnings. */
  problems: readonly Problem[]
  /** The whole document, read from its JSON text by the first call. Shared, never changed. */
  value(): JsonObject
}

export interface CatalogedDocument extends ParsedDocument {
  catalogId: string
  version: number
}

export interface CatalogDocuments {
  /** A text that is not in the catalog yet; not remembered. A document with mistakes throws `refused`, with all of them. */
  read(text: string, resourceType?: string): Promise<ParsedDocument & { content: string }>
  /** Where in a text these places are; null where nobody can tell. */
  placesOf(text: string, pointers: readonly string[]): Promise<(Place | null)[]>
  /** The document of an entry. Throws what `read` would throw, or `not_found`. */
  of(catalogId: string): Promise<CatalogedDocument>
  /** The same for an entry that was read already. */
  ofEntry(entry: CatalogEntry): Promise<CatalogedDocument>
}

export interface CatalogDocumentsDeps {
  databases: Databases
  clock: Clock
  /** The task of that name, in a thread; one-shot commands run it in place. */
  parse(input: { text: string; resourceType?: string | undefined }, timeoutMs: number): Promise<DocumentTexts>
  locate(input: { text: string; pointers: readonly string[] }, timeoutMs: number): Promise<{ places: (Place | null)[] }>
}

export const DOCUMENT_DEADLINE_MS = 10_000
const REMEMBERED = { entriesMax: 500, weightMax: 64 * 1_048_576 }
// Values take several times the room of their text.
const WEIGHT_PER_CHARACTER = 6
/** What the text itself causes. Everything else may be better the next time. */
const LASTING: readonly ErrorCode[] = ['refused', 'invalid_input', 'too_large', 'corrupt']
const TIMEOUT_REMEMBERED_MS = 300_000

type Remembered = { document: CatalogedDocument } | { failure: CpError; untilMs: number }

export function createCatalogDocuments(deps: CatalogDocumentsDeps): CatalogDocuments {
  const known = new LruMap<string, Remembered>(REMEMBERED)
  const underWay = new Map<string, Promise<CatalogedDocument>>()

  async function load(catalogId: string, find: () => Promise<CatalogEntry>): Promise<CatalogedDocument> {
    const entry = await find()
    try {
      const texts = await deps.parse({ text: entry.content ?? '', resourceType: entry.kind }, DOCUMENT_DEADLINE_MS)
      const document = { ...parsedFrom(texts), catalogId, version: entry.version }
      known.set(catalogId, { document }, texts.document.length * WEIGHT_PER_CHARACTER)
      return document
    } catch (error) {
      const failure = toCpError(error)
      const rememberedMs = failure.code === 'timeout' ? TIMEOUT_REMEMBERED_MS : Number.POSITIVE_INFINITY
      if (LASTING.includes(failure.code) || failure.code === 'timeout') {
        known.set(catalogId, { failure, untilMs: deps.clock.monotonic() + rememberedMs })
      }
      throw failure
    }
  }

  async function once(catalogId: string, find: () => Promise<CatalogEntry>): Promise<CatalogedDocument> {
    const found = known.get(catalogId)
    if (found !== undefined && 'document' in found) return found.document
    if (found !== undefined && deps.clock.monotonic() < found.untilMs) throw found.failure
    const started = underWay.get(catalogId)
    if (started !== undefined) return started
    const loading = load(catalogId, find).finally(() => underWay.delete(catalogId))
    underWay.set(catalogId, loading)
    return loading
  }

  return {
    placesOf: async (text, pointers) =>
      pointers.length === 0 ? [] : (await deps.locate({ text, pointers }, DOCUMENT_DEADLINE_MS)).places,
    read: documentReader(deps.parse),
    of: (catalogId) => once(catalogId, () => findEntry(deps, { catalogId })),
    ofEntry: (entry) => once(entry.catalog_id, async () => entry),
  }
}

/** Reads texts that are in no catalog. */
export function documentReader(parse: CatalogDocumentsDeps['parse']): CatalogDocuments['read'] {
  return async (text, resourceType) => {
    const texts = await parse({ text, resourceType }, DOCUMENT_DEADLINE_MS)
    return { ...parsedFrom(texts), content: texts.content }
  }
}

function parsedFrom(texts: DocumentTexts): ParsedDocument {
  const { path, kind, payload, layout, meta, subscription, problems } = texts
  let text: string | undefined = texts.document
  let value: JsonObject
  return {
    path,
    kind,
    payload,
    layout,
    meta,
    problems,
    subscription: subscription === undefined ? undefined : (parseJson(subscription) as unknown as SubscriptionSpec),
    value: () => {
      if (text !== undefined) value = parseJson(text) as JsonObject
      text = undefined
      return value
    },
  }
}
