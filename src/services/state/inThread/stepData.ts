// The data of the last finished visit of a step, from the log: for whoever waited for the execution and wants one of its
// steps. Folded and thrown away, because the execution has ended and nobody holds its state.

import type { Db } from '../../../db/db.js'
import { withPlaces } from '../../../domain/engine/loopParts.js'
import { visitDataOf } from '../../../domain/engine/visitData.js'
import { noSuchExecution } from '../../../domain/executions/executionStatus.js'
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import type { Keyring } from '../../../domain/secrets/keyring.js'
import type { LiveState } from '../../../domain/state/liveState.js'
import { buildOpened } from './openedState.js'

const PAGE = 2_000

/** As JSON text: threads hand over no numbers of more than 53 bits. */
export interface StepDataText {
  data: string
  reference: string | undefined
}

export async function readStepData(db: Db, executionId: string, step: string, keyring: Keyring): Promise<StepDataText> {
  const live = await buildOpened(db, executionId, keyring, { page: PAGE })
  if (live === undefined) throw noSuchExecution(executionId)
  const { data, reference } = lastFinished(live, step)
  return { data: writeJson(data), reference: reference === undefined ? undefined : writeJson(reference) }
}

function lastFinished({ state }: LiveState, name: string): { data: JsonValue; reference: JsonObject | undefined } {
  const step = state.driven?.steps.get(name)
  const visit = step === undefined ? undefined : step.visits.get(step.lastFinished)
  if (step === undefined || visit === undefined) return { data: null, reference: undefined }
  const { data, parts, reference } = visitDataOf(step.lastFinished, visit)
  return { data: withPlaces(data, parts), reference: reference?.document }
}
