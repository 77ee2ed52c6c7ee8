// The list of worker tasks: name → function. A task takes and returns plain, cloneable data; byte arrays at the
// top of its answer are handed over, not copied.
import { checksum } from './checksum.js'
import { replayDiff, replayVerify } from './replay/compare.js'
import { replay, replaySeed } from './replay/state.js'

export const TASKS = { checksum, replay, replaySeed, replayDiff, replayVerify }

export type TaskName = keyof typeof TASKS
export type TaskTypes = {
  [N in TaskName]: { input: Parameters<(typeof TASKS)[N]>[0]; output: Awaited<ReturnType<(typeof TASKS)[N]>> }
}

export const TASK_NAMES = Object.keys(TASKS) as TaskName[]
