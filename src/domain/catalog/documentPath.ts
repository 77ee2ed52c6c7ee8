// A document that names no path in its metadata, with one written into it. Everything else stays as its author wrote it,
// comments included.

import { isMap, isScalar, LineCounter, type Node, type YAMLMap } from 'yaml'
import { CpError } from '../../errors.js'
import { canonicalJson } from '../json/canonical.js'
import type { JsonObject } from '../json/value.js'
import { decodeContent, parseCatalogDocument } from './catalogDocument.js'
import { readSyntax, YAML_LIMITS } from './yamlText.js'

export function withMetadataPath(input: string, path: string): string {
  const text = decodeContent(input)
  const lines = new LineCounter()
  const [document] = readSyntax(text, lines, YAML_LIMITS.depthMax) ?? []
  const metadata = below(document?.contents, 'metadata')
  const start = isMap(metadata) ? (metadata.items[0]?.key as Node | null | undefined)?.range?.[0] : undefined
  if (start !== undefined) {
    const entry = `path: ${JSON.stringify(path)}`
    const indent = ' '.repeat(lines.linePos(start).col - 1)
    const written = (metadata as YAMLMap).flow === true ? `${entry}, ` : `${entry}\n${indent}`
    const whole = text.slice(0, start) + written + text.slice(start)
    if (isOnlyMoved(text, whole, path)) return whole
  }
  throw new CpError('invalid_input', 'there is no place for a path in its metadata; write metadata: {path: …} into it')
}

function below(node: unknown, key: string): unknown {
  if (!isMap(node)) return undefined
  return node.items.find((pair) => isScalar(pair.key) && pair.key.value === key)?.value
}

/** Anchors may carry the path to other places, or another key. */
function isOnlyMoved(before: string, after: string, path: string): boolean {
  try {
    const { document, path: found } = parseCatalogDocument(after)
    const { path: _path, ...metadata } = document['metadata'] as JsonObject
    const rest = { ...document, metadata }
    return found === path && canonicalJson(rest) === canonicalJson(parseCatalogDocument(before).document)
  } catch {
    // What was written in made another document of it.
    return false
  }
}
