// What an execution gave: its own data, or that of the last finished visit of a step. References are resolved.
import type { Databases } from '../../db/databases.js'
import { readAnswer, readReference } from '../../domain/engine/answer.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import { readLastOf, readSaid } from '../../stores/events/eventStore.js'
import { findExecution } from './executionQueries.js'

export interface ExecutionResultDeps {
  databases: Databases
  /** The data behind a reference. */
  resolve?(executionId: string, ref: string): Promise<JsonValue>
}

const COMPLETED = { types: ['playbook.completed', 'execution.completed'], statuses: ['COMPLETED'] }
const LEFT = { types: ['step.exit'], statuses: ['COMPLETED'] }

/** Throws `not_found` for a step that never finished, `refused` for an execution that has no result. */
export async function executionResult(
  deps: ExecutionResultDeps,
  id: ExecutionId,
  step: string | undefined,
): Promise<JsonValue> {
  const { status } = await findExecution(deps, id)
  const db = deps.databases.of(id)
  const found = await readLastOf(db, id, { ...(step === undefined ? COMPLETED : LEFT), step })
  if (found === undefined) throw nothingThere(id, step, status)
  const said = parseJson(found.said)
  const answer = step === undefined ? undefined : answerOf(said)
  if (answer === undefined) return dataOf(deps, id, objectAt(said, 'result'))
  const { data, reference } = readAnswer(await readSaid(db, id, answer))
  return reference === undefined ? data : resolved(deps, id, reference.ref, reference.document)
}

/** The call.done whose data counts; loops and steps that the engine ran have theirs in the exit itself. */
function answerOf(said: JsonValue): string | undefined {
  const answer = objectAt(said, 'meta')['answer']
  return answer === undefined || answer === null ? undefined : String(answer)
}

function dataOf(deps: ExecutionResultDeps, id: string, result: JsonObject): Promise<JsonValue> | JsonValue {
  const reference = readReference(result['reference'])
  if (reference !== undefined) return resolved(deps, id, reference.ref, reference.document)
  return objectAt(result, 'context')['data'] ?? null
}

function resolved(
  { resolve }: ExecutionResultDeps,
  id: string,
  ref: string,
  document: JsonObject,
): Promise<JsonValue> | JsonValue {
  return resolve === undefined ? document : resolve(id, ref)
}

function nothingThere(id: string, step: string | undefined, status: string): CpError {
  if (step !== undefined) {
    return new CpError(
      'not_found',
      `execution ${id} has no finished visit of a step ${step}; see "noetl-cp replay ${id}"`,
    )
  }
  const hint = isTerminalStatus(status) ? `see "noetl-cp execution show ${id}"` : 'it has not ended yet'
  return new CpError('refused', `execution ${id} is ${status} and has no result; ${hint}`)
}

function objectAt(value: JsonValue, key: string): JsonObject {
  const inner = isJsonObject(value) ? value[key] : undefined
  return isJsonObject(inner) ? inner : {}
}
