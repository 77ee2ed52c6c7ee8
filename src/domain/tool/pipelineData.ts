// The data of a pipeline, made from the data of its tasks: each under its label, the fields of those that are maps beside
// them (a later task wins, a label wins over a field), all again under `results`, the last one as `_prev`.

import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { setOutput, type TaskOutcome } from './taskOutcome.js'

/** In the order in which the tasks ended; a task that ran again moves to the end. */
export class PipelineData {
  private readonly byLabel = new Map<string, JsonValue>()
  private last: JsonValue = null
  private lastOutcome: TaskOutcome | undefined

  add(label: string | undefined, outcome: TaskOutcome): void {
    const { data } = outcome
    this.last = data
    this.lastOutcome = outcome
    if (label === undefined) return
    this.byLabel.delete(label)
    this.byLabel.set(label, data)
  }

  has(label: string): boolean {
    return this.byLabel.has(label)
  }

  get(label: string): JsonValue | undefined {
    return this.byLabel.get(label)
  }

  get previous(): JsonValue {
    return this.last
  }

  /** `output` in the configuration of a task: of the task before it, as that task's own `set` saw it. */
  previousOutput(): JsonObject | undefined {
    return this.lastOutcome === undefined ? undefined : setOutput(this.lastOutcome)
  }

  results(): JsonObject {
    const results: JsonObject = {}
    for (const [label, data] of this.byLabel) setKey(results, label, data)
    return results
  }

  /** `isLabelled`: false for the one task of a step that is no pipeline, whose data stands for itself. */
  whole(isLabelled: boolean, stepValues: JsonObject, updates: JsonObject | undefined): JsonValue {
    if (!isLabelled) return this.alone(stepValues, updates)
    const data: JsonObject = {}
    for (const fields of this.byLabel.values()) {
      if (isJsonObject(fields)) for (const key of Object.keys(fields)) setKey(data, key, fields[key] as JsonValue)
    }
    data['results'] = this.results()
    data['_prev'] = this.last
    for (const [label, value] of this.byLabel) setKey(data, label, value)
    return withReports(data, stepValues, updates)
  }

  private alone(stepValues: JsonObject, updates: JsonObject | undefined): JsonValue {
    const hasStepValues = Object.keys(stepValues).length > 0
    // Data that is no map has no room for a report, and stays what it is: the report stands beside it.
    if (!hasStepValues && (updates === undefined || !isJsonObject(this.last))) return this.last
    const data = isJsonObject(this.last) ? { ...this.last } : { data: this.last }
    return withReports(data, stepValues, updates)
  }
}

function withReports(data: JsonObject, stepValues: JsonObject, updates: JsonObject | undefined): JsonObject {
  for (const key of Object.keys(stepValues)) setKey(data, key, stepValues[key] as JsonValue)
  if (updates !== undefined) data['_context_updates'] = updates
  return data
}
