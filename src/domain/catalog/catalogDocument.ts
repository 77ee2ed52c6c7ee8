// A document as it is registered in the catalog: YAML, or base64 of it, with the few fields the catalog
// itself needs taken out. The text is kept exactly as it was sent. A few lines of YAML can unfold into
// gigabytes through aliases or overflow the stack through nesting; both are stopped before anything is
// unfolded. Integers keep every digit, and what the database cannot hold is refused.

import { Composer, type CST, LineCounter, Parser } from 'yaml'
import { CpError } from '../../errors.js'
import { sha256Hex } from '../json/canonical.js'
import { escapeSegment } from '../json/pointer.js'
import { floatValue, integerValue, isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { parseSubscriptionSpec, type SubscriptionSpec } from '../subscriptions/subscriptionSpec.js'
import { Reader, refuseDocument, type Violation } from './violation.js'

export const CATALOG_KINDS: readonly string[] = ['playbook', 'credential', 'mcp', 'agent', 'memory', 'subscription']
export const CATALOG_PATH_LENGTH_MAX = 512

export interface YamlLimits {
  bytesMax: number
  depthMax: number
  aliasesMax: number
  nodesMax: number
}

export const YAML_LIMITS: YamlLimits = { bytesMax: 1_048_576, depthMax: 64, aliasesMax: 100, nodesMax: 200_000 }

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
  const document = parseYaml(content, limits, violations)
  if (document !== undefined && !isJsonObject(document)) violations.push({ path: '', message: 'must be a mapping' })
  if (!isJsonObject(document)) throw refuseDocument('the catalog document', violations)

  const root = new Reader(document, '', violations)
  const kind = readKind(root, options)
  const metadata = root.mapping('metadata', 'required')
  const path = metadata === undefined ? undefined : readPath(metadata)
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
function decodeContent(input: string): string {
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

const UNSTORABLE = /\0|\p{Surrogate}/u

/** Adds to `violations` and returns undefined when the text is no acceptable document. */
function parseYaml(text: string, limits: YamlLimits, violations: Violation[]): JsonValue | undefined {
  const bytes = Buffer.byteLength(text, 'utf8')
  if (bytes > limits.bytesMax) {
    throw new CpError('too_large', `the document has ${bytes} bytes; at most ${limits.bytesMax} are accepted`, {
      details: { bytes, limit: limits.bytesMax },
    })
  }
  const tokens: CST.Token[] = []
  const lines = new LineCounter()
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    if (depthOf(token, limits.depthMax) > limits.depthMax) {
      violations.push({ path: '', message: `is nested more than ${limits.depthMax} levels deep` })
      return undefined
    }
    tokens.push(token)
  }
  const documents = [...new Composer({ intAsBigInt: true, logLevel: 'silent' }).compose(tokens)]
  const [document, another] = documents
  if (document === undefined) {
    violations.push({ path: '', message: 'is empty' })
    return undefined
  }
  if (another !== undefined) {
    violations.push({ path: '', message: 'holds more than one YAML document; register them one by one' })
    return undefined
  }
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0])
    const where = `line ${line}, column ${col}`
    violations.push({ path: '', message: `is not readable as YAML: ${firstLine(error.message)} (${where})` })
  }
  if (document.errors.length > 0) return undefined
  let plain: unknown
  try {
    plain = document.toJS({ maxAliasCount: limits.aliasesMax })
  } catch {
    violations.push({ path: '', message: `uses more than ${limits.aliasesMax} aliases, or an alias without an anchor` })
    return undefined
  }
  const before = violations.length
  const value = toJson(plain, '', { left: limits.nodesMax, depthMax: limits.depthMax, violations })
  return violations.length > before ? undefined : value
}

interface Walk {
  left: number
  depthMax: number
  violations: Violation[]
}

function toJson(value: unknown, path: string, walk: Walk, depth = 0): JsonValue {
  walk.left -= 1
  if (walk.left === 0) walk.violations.push({ path: '', message: 'has too many values once its aliases are resolved' })
  // An alias inside its own anchor makes a value without end.
  if (depth === walk.depthMax + 1) walk.violations.push({ path, message: 'is nested too deeply' })
  if (walk.left <= 0 || depth > walk.depthMax) return null
  switch (typeof value) {
    case 'bigint':
      return integerValue(value)
    case 'number':
      if (!Number.isFinite(value)) walk.violations.push({ path, message: 'is no finite number' })
      return floatValue(value)
    case 'string':
      if (UNSTORABLE.test(value)) {
        walk.violations.push({ path, message: 'contains NUL or half a surrogate pair, which cannot be stored' })
      }
      return value
    case 'boolean':
      return value
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return value.map((item, index) => toJson(item, `${path}/${index}`, walk, depth + 1))
      return objectToJson(value, path, walk, depth)
    default:
      return null
  }
}

function objectToJson(value: object, path: string, walk: Walk, depth: number): JsonObject {
  const object: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    if (UNSTORABLE.test(key)) walk.violations.push({ path, message: 'has a key with NUL or half a surrogate pair' })
    setKey(object, key, toJson(item, `${path}/${escapeSegment(key)}`, walk, depth + 1))
  }
  return object
}

/** How deep collections are nested in the syntax tree; an own stack, because the tree may be a million deep. */
function depthOf(root: CST.Token, enough: number): number {
  let deepest = 0
  const stack: [CST.Token, number][] = [[root, 0]]
  for (let entry = stack.pop(); entry !== undefined && deepest <= enough; entry = stack.pop()) {
    const [token, depth] = entry
    deepest = Math.max(deepest, depth)
    if (token.type === 'document') {
      if (token.value) stack.push([token.value, depth])
    } else if ('items' in token) {
      for (const item of token.items) {
        if (item.key) stack.push([item.key, depth + 1])
        if (item.value) stack.push([item.value, depth + 1])
      }
    }
  }
  return deepest
}

function firstLine(message: string): string {
  return (message.split('\n')[0] as string).slice(0, 200)
}
