// What a playbook that has ended gives to the step that waited for it.
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import type { FamilyMember } from '../../stores/children/childStore.js'
import { openEvents, type SealedDeps } from '../secrets/sealedValues.js'

/** The data, or where it is stored. */
export interface ChildData {
  data: JsonValue
  reference?: JsonObject
}

export interface ChildResultDeps extends SealedDeps {
  /** Of the last finished visit of a step. */
  stepData(executionId: string, step: string): Promise<ChildData>
}

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
export async function dataFor(deps: ChildResultDeps, child: FamilyMember, wanted: Returning): Promise<ChildData> {
  const about: JsonObject = { execution_id: child.execution_id, status: child.status }
  if (wanted.step === undefined) {
    if (wanted.result) return resultOf(deps, child)
    return { data: { ...about, path: child.path, duration_ms: durationOf(child) } }
  }
  const ofStep = await deps.stepData(child.execution_id, wanted.step)
  // Both asked for: the data of that step is the result.
  if (wanted.result) return ofStep
  const { data, reference } = ofStep
  // What is stored elsewhere is told by its reference, which whoever reads the result follows.
  const result = reference === undefined ? data : { __ref__: reference['ref'] ?? null }
  return { data: withFields({ ...about, result }, result) }
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
