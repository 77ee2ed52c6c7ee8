// What a playbook that has ended gives to the step that waited for it.
import { withValues } from '../../domain/engine/loopParts.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { extractedOf, leftOutOf, referenceTo } from '../../domain/results/extracted.js'
import type { FamilyMember } from '../../stores/children/childStore.js'
import type { PutResult, ResultStore } from '../../tools/run/resultStore.js'
import { openEvents, type SealedDeps } from '../secrets/sealedValues.js'

/** The data, or where it is stored. */
export interface ChildData {
  data: JsonValue
  reference?: JsonObject
}

export interface ChildResultDeps extends SealedDeps {
  /** Of the last finished visit of a step. */
  stepData(executionId: string, step: string): Promise<ChildData>
  results: ResultStore
}

/** The command that gets it. */
export type Waiting = Pick<PutResult, 'executionId' | 'name' | 'step'>

const STORE_TIMEOUT_MS = 60_000

/** The result of the execution as a whole. */
export async function resultOf(deps: SealedDeps, child: FamilyMember): Promise<ChildData> {
  const { execution_id: id, terminal_event_id: endId } = child
  if (endId === null) return { data: null }
  const [end] = await openEvents(deps, 'engine', id, [endId])
  const result = isJsonObject(end?.result) ? end.result : {}
  const { reference, context } = result
  if (isJsonObject(reference)) return { data: null, reference }
  return { data: isJsonObject(context) ? (context['data'] ?? null) : null }
}

export interface Returning {
  step: string | undefined
  result: boolean
}

/** In the form that the tool promises: the result, the data of a step with its fields, or how it went. */
export async function dataFor(
  deps: ChildResultDeps,
  child: FamilyMember,
  wanted: Returning,
  waiting: Waiting,
): Promise<ChildData> {
  const about: JsonObject = { execution_id: child.execution_id, status: child.status }
  if (wanted.step === undefined) {
    if (wanted.result) return withStoredParts(deps, await resultOf(deps, child), waiting)
    return { data: { ...about, path: child.path, duration_ms: durationOf(child) } }
  }
  const ofStep = await deps.stepData(child.execution_id, wanted.step)
  // Both asked for: the data of that step is the result.
  if (wanted.result) return withStoredParts(deps, ofStep, waiting)
  const { data, reference } = ofStep
  const read = readerOf(deps)
  const result = reference === undefined ? await withValues(data, read) : await read(String(reference['ref']))
  const whole = withFields({ ...about, result }, result)
  return reference === undefined && result === data ? { data: whole } : stored(deps, whole, waiting)
}

/** All that one child gives, within one deadline. */
function readerOf({ results }: Pick<ChildResultDeps, 'results'>): (ref: string) => Promise<JsonValue> {
  const signal = AbortSignal.timeout(STORE_TIMEOUT_MS)
  return (ref) => results.get(ref, signal)
}

async function stored(
  { results }: Pick<ChildResultDeps, 'results'>,
  data: JsonValue,
  waiting: Waiting,
): Promise<ChildData> {
  const answer = await results.put({ ...waiting, data }, AbortSignal.timeout(STORE_TIMEOUT_MS))
  const extracted = extractedOf(data)
  return { data: null, reference: referenceTo(answer, extracted, leftOutOf(data, extracted)) }
}

/** Results of a loop that are stored one by one with the child become one result of the parent. */
export async function withStoredParts(
  deps: Pick<ChildResultDeps, 'results'>,
  given: ChildData,
  waiting: Waiting,
): Promise<ChildData> {
  const whole = await withValues(given.data, readerOf(deps))
  return whole === given.data ? given : stored(deps, whole, waiting)
}

function durationOf({ duration_ms: ms }: FamilyMember): number | null {
  return ms === null ? null : Math.round(ms)
}

/** Fields of the result beside it, where their names are free. */
function withFields(data: JsonObject, result: JsonValue): JsonObject {
  if (!isJsonObject(result)) return data
  for (const key of Object.keys(result)) if (!Object.hasOwn(data, key)) setKey(data, key, result[key] as JsonValue)
  return data
}
