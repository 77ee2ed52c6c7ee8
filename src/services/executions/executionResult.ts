// What an execution gave: its own data, or that of the last finished visit of a step. References are resolved.
import type { Databases } from '../../db/databases.js'
import { readAnswer, readReference } from '../../domain/engine/answer.js'
import { withValues } from '../../domain/engine/loopParts.js'
import { overlaid } from '../../domain/engine/visitData.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError } from '../../errors.js'
import { readLastOf, readResultOf } from '../../stores/events/eventStore.js'
import { findExecution } from './executionQueries.js'

export interface ExecutionResultDeps {
  databases: Databases
  /** The data behind a reference, as JSON text: it may be too large to be read here. */
  resolve(ref: string): Promise<Uint8Array>
}

export type ExecutionData = { data: JsonValue } | { bytes: Uint8Array }

// Reading more would hold up everything else.
const READ_BYTES_MAX = 1024 * 1024
const OPENING = '{'.charCodeAt(0)

const COMPLETED = { types: ['playbook.completed', 'execution.completed'], statuses: ['COMPLETED'] }
const LEFT = { types: ['step.exit'], statuses: ['COMPLETED'] }

/** Throws `not_found` for a step that never finished, `refused` for an execution that has no result. */
export async function executionResult(
  deps: ExecutionResultDeps,
  id: ExecutionId,
  step: string | undefined,
): Promise<ExecutionData> {
  const { status } = await findExecution(deps, id)
  const db = deps.databases.of(id)
  const found = await readLastOf(db, id, { ...(step === undefined ? COMPLETED : LEFT), step })
  if (found === undefined) throw nothingThere(id, step, status)
  const said = parseJson(found.said)
  if (step === undefined) return dataOf(deps, objectAt(said, 'result'))
  return withWritten(await dataLeft(deps, id, said), objectAt(objectAt(said, 'context'), 'step_values'))
}

async function dataLeft(deps: ExecutionResultDeps, id: ExecutionId, said: JsonValue): Promise<ExecutionData> {
  const answer = answerOf(said)
  if (answer === undefined) return dataOf(deps, objectAt(said, 'result'))
  const { data, reference } = readAnswer(await readResultOf(deps.databases.of(id), id, answer))
  return reference === undefined ? { data } : { bytes: await deps.resolve(reference.ref) }
}

/** With what the step's own `set` wrote over it. */
function withWritten(given: ExecutionData, own: JsonObject): ExecutionData {
  if (Object.keys(own).length === 0) return given
  if ('bytes' in given && given.bytes.length > READ_BYTES_MAX) return { bytes: withMembers(given.bytes, own) }
  return { data: overlaid('data' in given ? given.data : parsed(given.bytes), own) }
}

/** The same of a text that is too long to be read here: of a key that is there twice the last one counts. */
function withMembers(bytes: Uint8Array, own: JsonObject): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const members = writeJson(own).slice(1)
  return text[0] === OPENING
    ? Buffer.concat([text.subarray(0, text.lastIndexOf('}')), Buffer.from(`,${members}`)])
    : Buffer.concat([Buffer.from('{"data":'), text, Buffer.from(`,${members}`)])
}

const parsed = (bytes: Uint8Array): JsonValue => parseJson(Buffer.from(bytes).toString('utf8'))

/** The call.done whose data counts; loops and steps that the engine ran have theirs in the exit itself. */
function answerOf(said: JsonValue): string | undefined {
  const answer = objectAt(said, 'meta')['answer']
  return answer === undefined || answer === null ? undefined : String(answer)
}

async function dataOf({ resolve }: ExecutionResultDeps, result: JsonObject): Promise<ExecutionData> {
  const reference = readReference(result['reference'])
  if (reference !== undefined) return { bytes: await resolve(reference.ref) }
  return { data: await withStored(objectAt(result, 'context')['data'] ?? null, resolve) }
}

/** Results of a loop that are stored one by one, in their places. */
async function withStored(data: JsonValue, resolve: ExecutionResultDeps['resolve']): Promise<JsonValue> {
  const whole = await withValues(data, async (ref) => parsed(await resolve(ref)))
  // The exit of a step says them once.
  if (isJsonObject(whole) && !Object.hasOwn(data as JsonObject, 'data')) delete whole['data']
  return whole
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
