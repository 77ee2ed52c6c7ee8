// A catalog document, parsed off the main loop. The values come back as JSON text: one text costs the main loop
// nothing until somebody reads it, keeps every digit, and is what the database takes.
import { parseCatalogDocument } from '../../../domain/catalog/catalogDocument.js'
import type { JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'

export interface DocumentTexts {
  path: string
  kind: string
  /** The YAML, decoded if it came as base64. */
  content: string
  document: string
  payload: string | undefined
  layout: string | undefined
  meta: string | undefined
  subscription: string | undefined
}

export function catalogDocument(input: { text: string; resourceType?: string | undefined }): DocumentTexts {
  const parsed = parseCatalogDocument(input.text, { resourceType: input.resourceType })
  const text = (value: JsonValue | undefined) => (value === undefined ? undefined : writeJson(value))
  return {
    path: parsed.path,
    kind: parsed.kind,
    content: parsed.content,
    document: writeJson(parsed.document),
    payload: text(parsed.payload),
    layout: text(parsed.layout),
    meta: text(parsed.meta),
    subscription: text(parsed.subscription as JsonValue | undefined),
  }
}
