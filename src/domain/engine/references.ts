// Data that is stored outside of the log. Templates see its small parts as they are; whoever needs more must have the whole
// at hand, and a decision that lacks it says so instead of deciding.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { TemplatePath } from '../template/readPaths.js'
import type { Template } from '../template/template.js'
import type { PlacedTemplate } from '../template/tree.js'
import type { Board } from './board.js'
import { engineError, MissingValues, StepFailure } from './engineError.js'
import { type VisitData, withResults } from './visitData.js'

/** The data of a visit; if it is stored elsewhere and not at hand, its small parts and where it is. */
export function dataIn(board: Board, visit: VisitData): JsonValue {
  const { reference } = visit
  if (reference === undefined) return visit.data
  const { ref, document, extracted } = reference
  const about: JsonObject = {
    _ref: ref,
    _uri: ref,
    _bytes: bytesOf(document),
    status: visit.status,
  }
  if (visit.error !== null) about['error'] = visit.error
  const { fetched } = board.input
  if (!fetched.has(ref)) return withDocument({ __ref__: ref, ...about, ...extracted }, document)
  const data = fetched.get(ref)
  if (data === undefined) {
    throw new StepFailure(engineError('storage', `the result ${ref} is gone: it expired or was damaged`))
  }
  const whole = visit.isLoop ? withResults(data) : data
  return isJsonObject(whole) ? withDocument({ ...about, ...whole }, document) : whole
}

/** `<step>.reference.ref`, as playbooks hand it to `result_fetch`; not listed, so that it is no part of the whole. */
function withDocument(data: JsonObject, document: JsonObject): JsonObject {
  if (!Object.hasOwn(data, 'reference')) Object.defineProperty(data, 'reference', { value: document })
  return data
}

function bytesOf({ meta }: JsonObject): JsonValue {
  return isJsonObject(meta) ? (meta['bytes'] ?? null) : null
}

/** Where templates read from. */
export interface ReadsVisits {
  readonly board: Board
  /** The visit that a root means, if it means one. */
  visitOf(name: string): VisitData | undefined
}

export interface Wanted {
  readonly template: Template
}

/**
 * Throws what is missing for these templates to be rendered. `passesOn`: a template that is nothing but the whole value
 * hands the reference on, and whoever runs the tool fetches it.
 */
export function requireValues(context: ReadsVisits, wanted: readonly Wanted[], passesOn = false): void {
  let missing: Set<string> | undefined
  for (const { template } of wanted) {
    for (const path of template.paths) {
      const ref = missingFor(context, path)
      if (ref === undefined || (passesOn && isWholeValue(context, template, path))) continue
      missing ??= new Set()
      missing.add(ref)
    }
  }
  if (missing !== undefined) throw new MissingValues([...missing].sort())
}

/** Throws what is missing for whoever will read these paths elsewhere. */
export function requirePaths(context: ReadsVisits, paths: readonly TemplatePath[]): void {
  const missing = new Set(paths.flatMap((path) => missingFor(context, path) ?? []))
  if (missing.size > 0) throw new MissingValues([...missing].sort())
}

/** Where references are handed on instead of values. */
export function handedOn(context: ReadsVisits, templates: readonly PlacedTemplate[]): PlacedTemplate[] {
  return templates.filter(({ template }) =>
    template.paths.some((path) => isWholeValue(context, template, path) && missingFor(context, path) !== undefined),
  )
}

function missingFor(context: ReadsVisits, { root, keys }: TemplatePath): string | undefined {
  const name = root === 'steps' ? keys[0] : root
  const visit = name === undefined ? undefined : context.visitOf(name)
  const reference = visit?.reference
  if (reference === undefined) return undefined
  const { ref, extracted } = reference
  if (context.board.input.fetched.has(ref)) return undefined
  const key = keysBelow(root, keys, visit)[0]
  if (key !== undefined && (ALWAYS.has(key) || Object.hasOwn(extracted, key))) return undefined
  return ref
}

/** Below a step, these words mean its data; of a loop, `data` is the list of its results. */
function keysBelow(root: string, keys: readonly string[], visit: VisitData | undefined): readonly string[] {
  const rest = root === 'steps' ? keys.slice(1) : keys
  const [first] = rest
  const isData =
    (first === 'data' && visit?.isLoop !== true) || first === 'result' || (first === 'context' && root !== 'steps')
  return isData || (root === 'output' && first === 'response') ? rest.slice(1) : rest
}

const ALWAYS: ReadonlySet<string> = new Set(['_ref', '_uri', '_bytes', 'status', 'error', 'ref', 'meta', 'reference'])
const LONE_PATH = /^\s*\{\{-?\s*[\w.]+\s*-?\}\}\s*$/

function isWholeValue(context: ReadsVisits, template: Template, { root, keys }: TemplatePath): boolean {
  const name = root === 'steps' ? keys[0] : root
  const visit = name === undefined ? undefined : context.visitOf(name)
  return keysBelow(root, keys, visit).length === 0 && LONE_PATH.test(template.text)
}
