// Data that is stored outside of the log. Templates see its small parts as they are; whoever needs more must have the whole
// at hand, and a decision that lacks it says so instead of deciding.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { TemplatePath } from '../template/readPaths.js'
import type { Template } from '../template/template.js'
import type { PlacedTemplate } from '../template/tree.js'
import type { Reference } from './answer.js'
import type { Board } from './board.js'
import { engineError, MissingValues, StepFailure } from './engineError.js'
import { checkSize, type Part, partsOf, partsRead, withParts } from './loopParts.js'
import { overlaid, rootOf, stepRoot, type VisitData, withResults } from './visitData.js'

/** The data of a visit; if it is stored elsewhere and not at hand, its small parts and where it is. */
export function dataIn(board: Board, visit: VisitData): JsonValue {
  const { reference, data, parts } = visit
  if (reference === undefined) return withParts(data, parts, board.input.fetched)
  return referred(board, visit, reference, (whole) => whole)
}

/** The same as the root named like the step, which has its status and error, too. */
export function rootIn(board: Board, visit: VisitData): JsonValue {
  const { reference, status, error } = visit
  if (reference === undefined && visit.parts.length === 0) return stepRoot(visit)
  if (reference === undefined) return rootOf({ data: dataIn(board, visit), status, error })
  return referred(board, visit, reference, (data) => rootOf({ data, status, error }))
}

function referred(
  board: Board,
  visit: VisitData,
  { ref, document, extracted }: Reference,
  shown: (data: JsonValue) => JsonValue,
): JsonValue {
  const about: JsonObject = { _ref: ref, _uri: ref, _bytes: bytesOf(document) }
  const { fetched } = board.input
  if (!fetched.has(ref)) {
    const known: JsonObject = { __ref__: ref, ...about, status: visit.status }
    if (visit.error !== null) known['error'] = visit.error
    return withHidden({ ...known, ...extracted, ...visit.own }, { reference: document })
  }
  const data = fetched.get(ref)
  if (data === undefined) {
    throw new StepFailure(engineError('storage', `the result ${ref} is gone: it expired or was damaged`))
  }
  const own = visit.isLoop ? withParts(withResults(data), partsOf(data), fetched) : data
  const whole = shown(overlaid(own, visit.own))
  return isJsonObject(whole) ? withHidden(whole, { ...about, ...extracted, reference: document }) : whole
}

/** `<step>._ref`, `<step>.reference.ref`, as playbooks hand it to `result_fetch`; not listed: no part of the whole. */
function withHidden(data: JsonObject, hidden: JsonObject): JsonObject {
  const shown = copyWithHidden(data)
  for (const [key, value] of Object.entries(hidden)) {
    if (!Object.hasOwn(shown, key)) Object.defineProperty(shown, key, { value })
  }
  return shown
}

/** What was fetched is shared with other decisions, and never changed. */
function copyWithHidden(data: JsonObject): JsonObject {
  return Object.defineProperties({}, Object.getOwnPropertyDescriptors(data)) as JsonObject
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
      if (passesOn && isPassedOn(context, template, path)) continue
      for (const ref of missingFor(context, path)) {
        missing ??= new Set()
        missing.add(ref)
      }
    }
  }
  if (missing !== undefined) throw new MissingValues([...missing].sort())
}

/** Throws what is missing for whoever will read these paths elsewhere. */
export function requirePaths(context: ReadsVisits, paths: readonly TemplatePath[]): void {
  const missing = new Set(paths.flatMap((path) => missingFor(context, path)))
  if (missing.size > 0) throw new MissingValues([...missing].sort())
}

/** Where references are handed on instead of values; of the results of a loop each has a place of its own. */
export function handedOn(context: ReadsVisits, templates: readonly PlacedTemplate[]): PlacedTemplate[] {
  return templates.flatMap((placed) => {
    const { template, pointer } = placed
    const path = template.paths.find((one) => isPassedOn(context, template, one))
    const visit = path && visitRead(context, path)
    if (path === undefined || visit === undefined) return []
    const { fetched } = context.board.input
    if (isWholeValue(template, path, visit)) return wholeMissing(context, path, visit) === undefined ? [] : [placed]
    const keys = loopKeys(path)
    const away = partsRead(null, partsIn(context, visit), keys).filter(({ ref }) => !fetched.has(ref))
    return keys.length > 1
      ? away.map(() => placed)
      : away.map(({ index }) => ({ ...placed, pointer: `${pointer}/${index}` }))
  })
}

function visitRead(context: ReadsVisits, { root, keys }: TemplatePath): VisitData | undefined {
  const name = root === 'steps' ? keys[0] : root
  return name === undefined ? undefined : context.visitOf(name)
}

function missingFor(context: ReadsVisits, path: TemplatePath): readonly string[] {
  const visit = visitRead(context, path)
  if (visit === undefined) return NONE
  const ref = wholeMissing(context, path, visit)
  if (ref !== undefined) return [ref]
  const parts = partsIn(context, visit)
  if (parts.length === 0) return NONE
  const read = partsRead(dataIn(context.board, visit), parts, loopKeys(path))
  checkSize(read, path.root === 'steps' ? String(path.keys[0]) : path.root)
  const { fetched } = context.board.input
  return read.flatMap((part) => (fetched.has(part.ref) ? [] : [part.ref]))
}

const NONE: readonly string[] = []

function wholeMissing(context: ReadsVisits, { root, keys }: TemplatePath, visit: VisitData): string | undefined {
  const { reference } = visit
  if (reference === undefined) return undefined
  const { ref, extracted, leftOut } = reference
  if (context.board.input.fetched.has(ref)) return undefined
  const { isData, key } = below(root, keys, visit)
  if (key === undefined || leftOut.has(key)) return ref
  if (Object.hasOwn(extracted, key) || Object.hasOwn(visit.own, key) || ABOUT.has(key)) return undefined
  return !isData && BESIDE_DATA[root === 'steps' || root === 'output' ? root : 'step']?.has(key) ? undefined : ref
}

/** Of a loop whose list is stored as a whole they are known when that is at hand. */
function partsIn({ board }: ReadsVisits, { reference, parts }: VisitData): readonly Part[] {
  return reference === undefined ? parts : partsOf(board.input.fetched.get(reference.ref))
}

/** The way into the data of a loop. */
function loopKeys({ root, keys }: TemplatePath): readonly string[] {
  if (root === 'loop_results') return ['results', ...keys]
  const rest = root === 'steps' ? keys.slice(1) : keys
  const names = root === 'steps' ? ['data', 'result'] : root === 'output' ? ['response'] : ['result', 'context']
  return root !== 'result' && names.includes(rest[0] ?? '') ? rest.slice(1) : rest
}

interface Below {
  /** Whether the path leads into the data, and not to what stands beside it. */
  readonly isData: boolean
  /** The first key in the data; undefined when the whole is meant. */
  readonly key: string | undefined
}

/** Below a step, these words mean its data, unless it has such a key; of a loop, `data` is the list of its results. */
function below(root: string, keys: readonly string[], { isLoop, reference }: VisitData): Below {
  const [first, ...rest] = root === 'steps' ? keys.slice(1) : keys
  const isName =
    (first === 'data' && !isLoop) ||
    first === 'result' ||
    (first === 'context' && root !== 'steps') ||
    (first === 'response' && root === 'output')
  if (first === undefined || !isName) return { isData: root === 'result', key: first }
  const isOwn = root !== 'steps' && reference?.leftOut.has(first) === true
  return { isData: true, key: isOwn ? first : rest[0] }
}

const ABOUT: ReadonlySet<string> = new Set(['_ref', '_uri', '_bytes', 'reference'])
const BESIDE_DATA: Readonly<Record<string, ReadonlySet<string>>> = {
  step: new Set(['status', 'error']),
  output: new Set(['status', 'error', 'ref', 'meta']),
  steps: new Set(['status', 'error', 'visit', 'started_at', 'finished_at']),
}
const LONE_PATH = /^\s*\{\{-?\s*[\w.]+(?:\[\d+\])?\s*-?\}\}\s*$/

/** A template that is nothing but a whole value, or the results of a loop: the tool gets where they are. */
function isPassedOn(context: ReadsVisits, template: Template, path: TemplatePath): boolean {
  const visit = visitRead(context, path)
  if (visit === undefined || !LONE_PATH.test(template.text)) return false
  if (isWholeValue(template, path, visit)) return true
  if (wholeMissing(context, path, visit) !== undefined || partsIn(context, visit).length === 0) return false
  const [list, place, ...more] = loopKeys(path)
  return (list === 'results' || list === 'data') && more.length === 0 && /^\d*$/.test(place ?? '')
}

/** Of a loop the stored form is not what templates see. */
function isWholeValue(template: Template, { root, keys }: TemplatePath, visit: VisitData): boolean {
  if (visit.isLoop || visit.reference === undefined || Object.keys(visit.own).length > 0) return false
  return below(root, keys, visit).key === undefined && LONE_PATH.test(template.text)
}
