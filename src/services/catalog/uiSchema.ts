// Finds a catalog entry and makes the form of its workload from it; the rules are in domain/catalog/uiSchema.ts.
import type { Databases } from '../../db/databases.js'
import { uiFields } from '../../domain/catalog/uiSchema.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Clock } from '../../runtime/clock.js'
import type { CatalogDocuments } from './catalogDocuments.js'
import { findEntry } from './findEntry.js'

export interface UiSchemaDeps {
  databases: Databases
  documents: Pick<CatalogDocuments, 'ofEntry'>
}

export async function uiSchemaOf(
  deps: UiSchemaDeps,
  clock: Clock,
  want: { path: string; version: number | undefined },
): Promise<JsonObject> {
  const entry = await findEntry(deps, want)
  const document = (await deps.documents.ofEntry(entry)).value()
  const metadata = objectOf(document['metadata'])
  const exposed = metadata['exposed_in_ui'] ?? metadata['exposedInUi']
  return {
    path: entry.path,
    version: entry.version,
    kind: entry.kind,
    title: textOf(metadata['title']) ?? textOf(metadata['name']) ?? entry.path,
    description_markdown: textOf(metadata['description']) ?? null,
    exposed_in_ui: exposed === true,
    fields: uiFields(objectOf(document['workload']), entry.content ?? ''),
    generated_at: wireTimeFromMillis(clock.now()),
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
