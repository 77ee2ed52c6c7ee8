// A catalog document, parsed and judged off the main loop. The values come back as JSON text: one text costs the main loop
// nothing until somebody reads it, keeps every digit, and is what the database takes.
import { parseCatalogDocument } from '../../../domain/catalog/catalogDocument.js'
import { documentProblems } from '../../../domain/catalog/documentProblems.js'
import type { JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import type { Problem } from '../../../domain/playbook/plan.js'

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
  problems: readonly Problem[]
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
    problems: documentProblems(parsed),
  }
}
