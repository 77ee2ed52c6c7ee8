// The entry of every worker thread: looks the task up, runs it, turns a failure into a value.
import { CpError } from '../errors.js'
import { handedOver } from './handedOver.js'
import { failureOf, type TaskCall, type TaskResult } from './protocol.js'
import { TASKS } from './tasks.js'

export default async function entry(call: TaskCall): Promise<TaskResult> {
  const started = performance.now()
  try {
    const task = (TASKS as Record<string, (input: never) => unknown>)[call.task]
    if (task === undefined) throw new CpError('internal', `there is no worker task named ${call.task}`)
    const value = await task(call.input as never)
    return handedOver({ ok: true, value, ms: performance.now() - started }, value)
  } catch (error) {
    return failureOf(error, performance.now() - started)
  }
}
