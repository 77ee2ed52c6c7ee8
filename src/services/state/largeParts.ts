// Parts of a decision that are too large for its events go to the result store before the decision is written; the events say
// where they are. If the decision is not written after all, they go with the execution.
import { failedDecision } from '../../domain/engine/endExecution.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { referenceTo } from '../../domain/results/extracted.js'
import type { Decision, EmittedEvent, LargePart } from '../../domain/state/orchestrator.js'
import { toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'

/** `body`: as of PUT /api/result. Answers `{ref, store, scope, bytes, sha256, expires_at}`. */
export type StorePart = (executionId: ExecutionId, body: Uint8Array) => Promise<JsonObject>

/** Names of results are short. */
const STEP_LENGTH_MAX = 200

/** One that finds no room in the store fails the execution, which says so. */
export async function withPartsStored(
  { store, clock }: { store: StorePart; clock: Clock },
  executionId: string,
  decision: Decision,
): Promise<Decision> {
  if (decision.events.every(({ large }) => large === undefined)) return decision
  try {
    const events = await Promise.all(decision.events.map((event) => withPartStored(store, executionId, event)))
    return { ...decision, events }
  } catch (error) {
    const { code, message } = toCpError(error)
    if (code !== 'too_large' && code !== 'invalid_input') throw error
    return failedDecision(decision.atMs ?? clock.now(), message, 'storage')
  }
}

async function withPartStored(store: StorePart, executionId: string, event: EmittedEvent): Promise<EmittedEvent> {
  const { large, ...rest } = event
  if (large === undefined) return event
  const stored = await store(executionId as ExecutionId, bodyOf(event, large))
  if (large.at === 'items') return { ...rest, context: { ...objectOf(rest.context), items_ref: stored['ref'] ?? null } }
  return { ...rest, result: { ...objectOf(rest.result), reference: referenceTo(stored, large.extracted ?? {}) } }
}

/** The text is not read here: it may be long. */
function bodyOf({ nodeName = '', meta }: EmittedEvent, { at, text }: LargePart): Uint8Array {
  const visit = String(objectOf(meta)['visit'] ?? '')
  const step = nodeName.slice(0, STEP_LENGTH_MAX)
  const about = writeJson({ name: `${step}#${visit}:${at}`, source_step: step })
  return Buffer.from(`${about.slice(0, -1)},"data":${text}}`)
}

function objectOf(value: EmittedEvent['context']): JsonObject {
  return isJsonObject(value) ? value : {}
}
