// What a worker reports of a command.

import type { JsonObject, JsonValue } from '../json/value.js'

export interface Envelope {
  readonly status: 'success' | 'error' | 'timeout'
  readonly data?: JsonValue
  /** What a task has set, where the data is no map that could hold it. */
  readonly updates?: JsonObject
  /** The error object of toolFailure.ts. */
  readonly error?: JsonObject
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  readonly durationMs: number
  /** Runs of tasks, for those that ran more than once or belong to a pipeline. */
  readonly tasks?: readonly TaskReport[]
}

export interface TaskReport {
  readonly name: string
  readonly kind: string
  readonly status: 'ok' | 'error'
  readonly runs: number
  readonly durationMs: number
}

export function envelopeJson(envelope: Envelope): JsonObject {
  const json: JsonObject = { status: envelope.status }
  if (envelope.data !== undefined) json['data'] = envelope.data
  if (envelope.updates !== undefined) json['_context_updates'] = envelope.updates
  if (envelope.error !== undefined) json['error'] = envelope.error
  if (envelope.stdout !== undefined) json['stdout'] = envelope.stdout
  if (envelope.stderr !== undefined) json['stderr'] = envelope.stderr
  if (envelope.exitCode !== undefined) json['exit_code'] = envelope.exitCode
  json['duration_ms'] = envelope.durationMs
  if (envelope.tasks !== undefined) {
    json['meta'] = {
      tasks: envelope.tasks.map(({ name, kind, status, runs, durationMs }) => ({
        name,
        kind,
        status,
        runs,
        duration_ms: durationMs,
      })),
    }
  }
  return json
}
