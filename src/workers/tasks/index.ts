// The list of worker tasks: name → function. A task takes and returns plain, cloneable data.
import { checksum } from './checksum.js'

export const TASKS = { checksum }

export type TaskName = keyof typeof TASKS
export type TaskTypes = {
  [N in TaskName]: { input: Parameters<(typeof TASKS)[N]>[0]; output: Awaited<ReturnType<(typeof TASKS)[N]>> }
}

export const TASK_NAMES = Object.keys(TASKS) as TaskName[]
