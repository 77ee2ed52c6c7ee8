// A document as it is registered in the catalog: YAML, or base64 of it, with the few fields the catalog
// itself needs taken out. The text is kept exactly as it was sent. Integers keep every digit, and what the database
// cannot hold is refused.

import { CpError } from '../../errors.js'
import { sha256Hex } from '../json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { jsonWeight } from '../json/weight.js'
import { parseSubscriptionSpec, type SubscriptionSpec } from '../subscriptions/subscriptionSpec.js'
import { Reader, refuseDocument, type Violation } from './violation.js'
import { readYaml, YAML_LIMITS, type YamlLimits } from './yamlText.js'

export const CATALOG_KINDS: readonly string[] = ['playbook', 'credential', 'mcp', 'agent', 'memory', 'subscription']
export const CATALOG_PATH_LENGTH_MAX = 512
// Subscriptions are read on the main loop, where a document of the full size would take too long.
const SUBSCRIPTION_BYTES_MAX = 131_072

export interface CatalogDocument {
  path: string
  /** Always lower case. */
  kind: string
  /** The YAML text, decoded if it came as base64. */
  content: string
  payload?: JsonValue
  layout?: JsonValue
  meta?: JsonValue
  /** Only for subscriptions. */
  subscription?: SubscriptionSpec
  document: JsonObject
}

export interface CatalogDocumentOptions {
  /** The kind of a document that does not name one. */
  resourceType?: string | undefined
  kinds?: readonly string[] | undefined
  limits?: YamlLimits | undefined
}

export function parseCatalogDocument(input: string, options: CatalogDocumentOptions = {}): CatalogDocument {
  const limits = options.limits ?? YAML_LIMITS
  // Base64 is a third longer than what it holds; anything beyond cannot fit once decoded.
  if (input.length > limits.bytesMax * 2) {
    throw new CpError('too_large', `the document is longer than the ${limits.bytesMax} bytes accepted`, {
      details: { limit: limits.bytesMax },
    })
  }
  const content = decodeContent(input)
  const violations: Violation[] = []
  const document = readYaml(content, limits, violations)
  if (document !== undefined && !isJsonObject(document)) violations.push({ path: '', message: 'must be a mapping' })
  if (!isJsonObject(document)) throw refuseDocument('the catalog document', violations)

  const root = new Reader(document, '', violations)
  const kind = readKind(root, options)
  const metadata = root.mapping('metadata', 'required')
  const path = metadata === undefined ? undefined : readPath(metadata)
  if (kind === 'subscription' && jsonWeight(document) > SUBSCRIPTION_BYTES_MAX) {
    violations.push({ path: '', message: `is longer than the ${SUBSCRIPTION_BYTES_MAX} bytes of a subscription` })
  }
  const subscription = kind === 'subscription' ? parseSubscriptionSpec(root, violations) : undefined
  if (violations.length > 0 || path === undefined || kind === undefined) {
    throw refuseDocument('the catalog document', violations)
  }

  const parsed: CatalogDocument = { path, kind, content, document }
  const payload = root.value('workload')
  const layout = root.value('workflow')
  const meta = metadata?.value('labels')
  if (payload !== undefined) parsed.payload = payload
  if (layout !== undefined) parsed.layout = layout
  if (meta !== undefined) parsed.meta = meta
  if (subscription !== undefined) parsed.subscription = subscription
  return parsed
}

/** Equal for documents that would make the same version: line ends and space at the very end do not count. */
export function contentDigest(content: string): string {
  return sha256Hex(content.replace(/\r\n?/g, '\n').trimEnd())
}

/** Base64 only if it decodes to text; a YAML document cannot look like that, it needs a colon. */
export function decodeContent(input: string): string {
  const compact = input.replace(/\s+/g, '')
  if (compact === '' || compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) return stripMark(input)
  try {
    return stripMark(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(compact, 'base64')))
  } catch {
    return stripMark(input)
  }
}

function stripMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

function readKind(root: Reader, options: CatalogDocumentOptions): string | undefined {
  const kinds = options.kinds ?? CATALOG_KINDS
  const written = root.has('kind') ? root.text('kind') : (options.resourceType ?? 'playbook')
  const kind = written?.trim().toLowerCase()
  if (kind === undefined || kinds.includes(kind)) return kind
  return root.wrong('kind', `must be one of ${kinds.join(', ')}`)
}

function readPath(metadata: Reader): string | undefined {
  const key = metadata.has('path') ? 'path' : 'name'
  if (!metadata.has(key)) return metadata.wrong('path', 'is missing; give metadata.path or metadata.name')
  const path = metadata.text(key)?.trim()
  if (path === undefined) return undefined
  if (path.length > CATALOG_PATH_LENGTH_MAX) {
    return metadata.wrong(key, `must not be longer than ${CATALOG_PATH_LENGTH_MAX} characters`)
  }
  return /\p{Cc}/u.test(path) ? metadata.wrong(key, 'must not contain control characters') : path
}
