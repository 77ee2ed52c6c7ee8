// What one run of a task gave, and the two ways in which templates see it: policies look at the envelope first, the
// task's own `set` at the data first.

import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'

export interface TaskOutcome {
  readonly data: JsonValue
  /** The error object; null when the tool succeeded. */
  readonly error: JsonObject | null
  /** `{status, headers}` of an HTTP answer. */
  readonly http: JsonObject | undefined
  readonly attempt: number
  readonly durationMs: number
}

/** `output` in policies: the envelope, then keys of the data that do not collide. */
export function policyOutput(outcome: TaskOutcome): JsonObject {
  const view: JsonObject = { ...factsOf(outcome), data: readableData(outcome) }
  return withFree(view, outcome.data)
}

/** `output` in a task's `set`: the data, then what it lacks. */
export function setOutput(outcome: TaskOutcome): JsonObject {
  const view: JsonObject = isJsonObject(outcome.data) ? { ...outcome.data } : {}
  return withFree(withFree(view, { data: outcome.data, response: outcome.data }), factsOf(outcome))
}

function factsOf({ error, http, attempt, durationMs }: TaskOutcome): JsonObject {
  return {
    status: error === null ? 'ok' : 'error',
    error: error === null ? null : withStatus(error),
    http: http ?? null,
    pg: { code: error?.['pg_code'] ?? null },
    py: { exception: error?.['exception_type'] ?? null },
    meta: { attempt, duration_ms: durationMs },
    ref: null,
  }
}

function withStatus(error: JsonObject): JsonObject {
  return error['http_status'] === undefined ? error : { ...error, status: error['http_status'] }
}

/** Policies on HTTP read `output.data.data.x` and `output.data.x` for a field x of the body: both work. */
function readableData({ data, http }: TaskOutcome): JsonValue {
  if (http === undefined || !isJsonObject(data)) return data
  return withFree({ ...data }, data['data'] ?? null)
}

function withFree(view: JsonObject, more: JsonValue): JsonObject {
  if (!isJsonObject(more)) return view
  for (const key of Object.keys(more)) if (!Object.hasOwn(view, key)) setKey(view, key, more[key] as JsonValue)
  return view
}
