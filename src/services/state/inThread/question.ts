// What the orchestrator is asked with: the state of one execution, the time, and the values that it lacked before.
import { parseJson } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import type { LiveState } from '../../../domain/state/liveState.js'
import type { DecisionInput, NewEvent } from '../../../domain/state/orchestrator.js'
import type { FetchedTexts, KnownValues } from './knownValues.js'

export interface Asked {
  executionId: string
  /** The time of the decision. */
  nowMs: number
  /** What an earlier answer needed. */
  fetched?: FetchedTexts
}

export function questionOf(
  { live, engine }: { live: LiveState; engine: number | undefined },
  request: Asked,
  newEvents: readonly NewEvent[],
  values: KnownValues,
): DecisionInput {
  return {
    executionId: request.executionId,
    version: live.version,
    state: live.state,
    newEvents,
    nowMs: request.nowMs,
    engine,
    startMeta: startMetaOf(live),
    fetched: values.with(request.fetched ?? []),
  }
}

function startMetaOf({ routing }: LiveState): JsonObject {
  const meta = routing === undefined ? undefined : parseJson(routing.value)
  return isJsonObject(meta) ? meta : {}
}
