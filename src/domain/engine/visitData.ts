// What a visit that has ended left behind, and how templates see it: as the root named like the step, as `steps.<step>` and,
// for its own arcs, as `output`.

import type { WireTime } from '../events/wireTime.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { millisOf, type Visit } from '../state/drivenState.js'
import { memoByFact, type Reference, readAnswer, readReference } from './answer.js'
import { type Part, partsOf, withoutParts } from './loopParts.js'

export type StepStatus = 'ok' | 'error' | 'skipped'

export interface VisitData {
  readonly visit: number
  readonly status: StepStatus
  readonly data: JsonValue
  readonly reference: Reference | undefined
  /** What the step's `set` wrote with the scope `step`; part of the data, unless that is stored elsewhere. */
  readonly own: JsonObject
  /** Of a loop: results that are stored elsewhere, one by one. */
  readonly parts: readonly Part[]
  readonly error: JsonObject | null
  readonly startedAt: WireTime
  readonly finishedAt: WireTime
  /** Of loops. */
  readonly isLoop: boolean
}

const STATUS = { COMPLETED: 'ok', FAILED: 'error', SKIPPED: 'skipped' } as const

/** Of a settled visit. */
export function visitDataOf(number: number, visit: Visit): VisitData {
  return remembered(visit)(number)
}

const remembered = memoByFact((visit: Visit) => {
  let known: VisitData | undefined
  return (number: number): VisitData => {
    known ??= read(number, visit)
    return known
  }
})

function read(number: number, { enter, exit, answered }: Visit): VisitData {
  if (enter === undefined || exit === undefined) throw new Error(`visit ${number} has not ended`)
  const answer = readAnswer(answered)
  const stored = exit.result === undefined ? undefined : parseJson(exit.result)
  const kept = exit.reference === undefined ? undefined : readReference(parseJson(exit.reference))
  const data = stored === undefined ? answer.data : withResults(stored)
  const error = exit.error === undefined ? null : parseJson(exit.error)
  const own = exit.own === undefined ? null : parseJson(exit.own)
  return {
    visit: number,
    status: STATUS[exit.status],
    ...withOwn(data, isJsonObject(own) ? own : {}),
    reference: kept ?? (stored === undefined ? answer.reference : undefined),
    parts: partsOf(stored),
    error: isJsonObject(error) ? error : null,
    startedAt: enter.at,
    finishedAt: exit.at,
    isLoop: enter.expected !== undefined || enter.cursor !== undefined,
  }
}

/** Of a list loop the log keeps `results` once; readers find them as `data` too. */
export function withResults(stored: JsonValue): JsonValue {
  if (!isJsonObject(stored) || !Object.hasOwn(stored, 'results') || !Object.hasOwn(stored, 'stats')) return stored
  return { data: stored['results'] as JsonValue, ...withoutParts(stored) }
}

/** What the step's `set` wrote with the scope `step`, over its data. */
export function withOwn(data: JsonValue, own: JsonObject): Pick<VisitData, 'data' | 'own'> {
  return { data: overlaid(data, own), own }
}

export function overlaid(data: JsonValue, own: JsonObject): JsonValue {
  if (Object.keys(own).length === 0) return data
  const whole: JsonObject = isJsonObject(data) ? { ...data } : { data }
  for (const key of Object.keys(own)) setKey(whole, key, own[key] as JsonValue)
  return whole
}

/** As the root `<step>`: the data itself, with status and the error of a failure if it has none of its own. */
export const stepRoot = memoByFact((visit: VisitData): JsonValue => rootOf(visit))

export function rootOf({ data, status, error }: Pick<VisitData, 'data' | 'status' | 'error'>): JsonValue {
  // A failure that left nothing behind is still asked for its error.
  const isBareFailure = data === null && status === 'error'
  if (!isJsonObject(data) && !isBareFailure) return data
  const root: JsonObject = isJsonObject(data) ? withReadableBody({ ...data }) : {}
  // Not listed: whoever takes the whole gets the data and nothing else.
  for (const [key, value] of Object.entries({ data, status, error })) {
    // Playbooks ask `<step>.error is defined`, so that a success must not have one.
    if (key === 'error' && value === null) continue
    if (!Object.hasOwn(root, key)) Object.defineProperty(root, key, { value })
  }
  return root
}

/**
 * Arcs behind HTTP ask `<step>.data.status_code`, which is beside the body: it can be read from the body, too, and is no
 * part of it.
 */
function withReadableBody(answer: JsonObject): JsonObject {
  const { status_code: status, headers, data: body } = answer
  if (typeof status !== 'number' || !isJsonObject(headers) || !isJsonObject(body)) return answer
  if (Object.hasOwn(body, 'status_code')) return answer
  answer['data'] = Object.defineProperty({ ...body }, 'status_code', { value: status })
  return answer
}

/** As `steps.<step>`. */
export function stepEntry({ data, status, error, visit, startedAt, finishedAt }: VisitData): JsonObject {
  return { status, data, error, visit, started_at: startedAt, finished_at: finishedAt }
}

/** As `output`, for the step's own `set`, `vars` and arcs. */
export function stepOutput(visit: VisitData, attempt: number): JsonObject {
  const { data, status, error } = visit
  const own = isJsonObject(data) ? withReadableBody({ ...data }) : {}
  return filled(own, [
    ['data', () => data],
    ['status', () => status],
    ['error', () => error],
    ['http', () => ({ status: own['status_code'] ?? error?.['http_status'] ?? null, headers: own['headers'] ?? {} })],
    ['pg', () => ({ code: error?.['pg_code'] ?? null })],
    ['py', () => ({ exception: error?.['exception_type'] ?? null })],
    ['meta', () => ({ attempt, duration_ms: durationMs(visit), visit: visit.visit })],
    ['ref', () => visit.reference?.ref ?? null],
    ['response', () => data],
  ])
}

export function durationMs({ startedAt, finishedAt }: VisitData): number {
  return Math.max(0, millisOf(finishedAt) - millisOf(startedAt))
}

function filled(map: JsonObject, defaults: readonly (readonly [string, () => JsonValue])[]): JsonObject {
  const whole = { ...map }
  for (const [key, value] of defaults) if (!Object.hasOwn(whole, key)) whole[key] = value()
  return whole
}
