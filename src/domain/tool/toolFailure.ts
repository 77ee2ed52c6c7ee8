// Why a tool failed, in the words that playbooks compare with: a kind, whether trying again may help, and the facts of
// the tool it comes from. Tools throw a ToolFailure; nothing else of theirs reaches a playbook.

import { messageOf } from '../../errors.js'
import type { JsonObject, JsonValue } from '../json/value.js'

/** Kind → whether trying again may help. */
const RETRYABLE = {
  connection: true,
  timeout: true,
  rate_limit: true,
  auth: false,
  not_found: false,
  client_error: false,
  server_error: true,
  parse: false,
  schema: false,
  transform: false,
  exception: false,
  db_connection: true,
  db_deadlock: true,
  db_timeout: true,
  db_constraint: false,
  db_error: false,
  template: false,
  unsupported: false,
  config: false,
  credential: false,
  cancelled: false,
  worker_lost: false,
  child_failed: false,
  storage: false,
  unknown: false,
} as const

export type FailureKind = keyof typeof RETRYABLE

export interface FailureFacts {
  readonly code?: string | undefined
  /** Where the kind alone does not tell. */
  readonly retryable?: boolean
  readonly httpStatus?: number | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly pgCode?: string | undefined
  readonly exceptionType?: string | undefined
  readonly exitCode?: number | undefined
  readonly details?: JsonValue | undefined
  /** What the tool gave all the same. */
  readonly data?: JsonValue | undefined
  readonly http?: JsonObject | undefined
  readonly stdout?: string | undefined
  readonly stderr?: string | undefined
  readonly cause?: unknown
}

export class ToolFailure extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly facts: FailureFacts = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'ToolFailure'
  }

  with(facts: FailureFacts): ToolFailure {
    return new ToolFailure(this.kind, this.message, { ...facts, ...definedFacts(this.facts) })
  }
}

function definedFacts(facts: FailureFacts): FailureFacts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

/** Anything thrown. What is no failure of a tool is a mistake of ours, and says so by its kind. */
export function toToolFailure(error: unknown): ToolFailure {
  return error instanceof ToolFailure ? error : new ToolFailure('unknown', messageOf(error), { cause: error })
}

/** The error object of events and templates. `source`: the kind of tool. */
export function failureJson(failure: ToolFailure, source: string): JsonObject {
  const { facts } = failure
  const json: JsonObject = {
    kind: failure.kind,
    message: failure.message,
    retryable: facts.retryable ?? RETRYABLE[failure.kind],
    code: facts.code ?? failure.kind.toUpperCase(),
    source,
  }
  const optional: [string, JsonValue | undefined][] = [
    ['http_status', facts.httpStatus],
    ['retry_after', facts.retryAfterSeconds],
    ['pg_code', facts.pgCode],
    ['exception_type', facts.exceptionType],
    ['exit_code', facts.exitCode],
    ['details', facts.details],
  ]
  for (const [name, value] of optional) if (value !== undefined) json[name] = value
  return json
}
