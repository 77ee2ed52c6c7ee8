// How a live visit has ended, if it has: what it leaves behind, and by which event.

import { compareIds } from '../ids/ids.js'
import { parseJson } from '../json/parse.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { answerOf, type Command, commandStatus, endingOf } from '../state/drivenState.js'
import { type Answer, memoByFact, readAnswer } from './answer.js'
import type { Board, LiveVisit } from './board.js'
import { errorObject } from './engineError.js'
import type { EngineSettings } from './settings.js'

export interface Finish {
  /** The event that ended it; absent when this decision itself did. */
  readonly endId: string | undefined
  /** Null: it succeeded. */
  readonly error: JsonObject | null
  readonly answer: Pick<Answer, 'data' | 'reference'>
  /** The call.done that holds the data; otherwise the exit carries it. */
  readonly answerId: string | undefined
  /** `_context_updates`, in the order in which they are to be applied. */
  readonly updates: readonly JsonObject[]
  readonly attempt: number
  /** What the exit tells about a loop. */
  readonly context: JsonObject
  /** The data in the form in which the log keeps it, if that is another one. */
  readonly stored?: JsonValue
}

/** A visit that ended in the decision that entered it. */
export function endedAtOnce(data: JsonValue, error: JsonObject | null, context: JsonObject = {}): Finish {
  const answer = { data, reference: undefined }
  return { endId: undefined, error, answer, answerId: undefined, updates: [], attempt: 1, context }
}

/** A step without a loop: as its only command ended. */
export function finishPlain(board: Board, { visit, step }: LiveVisit): Finish | undefined {
  const command = visit.commands.get('')
  if (command === undefined) return undefined
  const end = commandEnd(command, board.input.settings)
  if (end === undefined) return undefined
  const { answer, error } = end
  return {
    endId: end.id,
    error: error === undefined ? null : errorObject(error, `step "${step.name}" failed without a reason`),
    answer,
    answerId: answerOf(command)?.id,
    updates: [answer.updates],
    attempt: command.attempt ?? 1,
    context: {},
  }
}

export interface CommandEnd {
  readonly id: string
  readonly answer: Answer
  /** Undefined: it succeeded. Null: it failed and nobody said why. */
  readonly error: JsonValue | undefined
}

export function commandEnd(command: Command, { toolErrors }: EngineSettings): CommandEnd | undefined {
  const status = commandStatus(command)
  const ending = endingOf(command)
  if ((status !== 'ok' && status !== 'failed') || ending === undefined) return undefined
  const fact = answerOf(command)
  const answer = fact === undefined ? readAnswer(undefined) : answerOfFact(fact)
  const { outcome } = command
  const isFailed = status === 'failed' && !(toolErrors === 'reference' && outcome?.completed !== false)
  if (!isFailed) return { id: ending.id, answer, error: undefined }
  const said = outcome?.error === undefined ? undefined : parseJson(outcome.error)
  return { id: ending.id, answer, error: said ?? answer.error ?? saidBefore(command) ?? null }
}

/** By a call.error of the same attempt. */
function saidBefore({ failure, outcome }: Command): JsonValue | undefined {
  return failure !== undefined && failure.attempt === outcome?.attempt ? parseJson(failure.error) : undefined
}

const answerOfFact = memoByFact((fact: { result?: string }): Answer => readAnswer(fact.result))

export function laterId(a: string | undefined, b: string): string {
  return a === undefined || compareIds(b, a) > 0 ? b : a
}
