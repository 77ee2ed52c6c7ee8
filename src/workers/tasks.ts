// The list of worker tasks: name → function. A task takes and returns plain, cloneable data; byte arrays at the
// top of its answer are handed over, not copied.

import { catalogDocument } from '../services/catalog/inThread/catalogDocument.js'
import { shownEvent } from '../services/events/inThread/shownEvent.js'
import { replayDiff, replayVerify } from '../services/replay/inThread/compare.js'
import { replay, replaySeed } from '../services/replay/inThread/state.js'

export const TASKS = { catalogDocument, shownEvent, replay, replaySeed, replayDiff, replayVerify }

export type TaskName = keyof typeof TASKS
export type TaskTypes = {
  [N in TaskName]: { input: Parameters<(typeof TASKS)[N]>[0]; output: Awaited<ReturnType<(typeof TASKS)[N]>> }
}

export const TASK_NAMES = Object.keys(TASKS) as TaskName[]
