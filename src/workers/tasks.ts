// The list of worker tasks: name → function. A task takes and returns plain, cloneable data; byte arrays at the
// top of its answer are handed over, not copied.

import { flatBody } from '../services/bodies/inThread/flatBody.js'
import { catalogDocument } from '../services/catalog/inThread/catalogDocument.js'
import { documentPlaces } from '../services/catalog/inThread/documentPlaces.js'
import { largeEvents } from '../services/events/inThread/largeEvents.js'
import { shownEvent } from '../services/events/inThread/shownEvent.js'
import { largeStarts, startParts } from '../services/executions/inThread/largeStarts.js'
import { largeVars } from '../services/executions/inThread/largeVars.js'
import { replayDiff, replayVerify } from '../services/replay/inThread/compare.js'
import { replayParity } from '../services/replay/inThread/parity.js'
import { replay, replaySeed } from '../services/replay/inThread/state.js'
import { packResult, unpackResult } from '../services/results/inThread/resultBytes.js'

import { largeMessage } from '../services/subscriptions/inThread/largeMessage.js'

export const TASKS = {
  flatBody,
  largeEvents,
  largeStarts,
  startParts,
  largeVars,
  largeMessage,
  catalogDocument,
  documentPlaces,
  shownEvent,
  replay,
  replaySeed,
  replayDiff,
  replayVerify,
  replayParity,
  packResult,
  unpackResult,
}

export type TaskName = keyof typeof TASKS
export type TaskTypes = {
  [N in TaskName]: { input: Parameters<(typeof TASKS)[N]>[0]; output: Awaited<ReturnType<(typeof TASKS)[N]>> }
}

export const TASK_NAMES = Object.keys(TASKS) as TaskName[]
