// How a resident thread answers: with the thread's own mark, so that the main thread notices when it talks to a successor.
import { randomUUID } from 'node:crypto'
import { CpError } from '../errors.js'
import { handedOver } from './handedOver.js'
import { failureOf, type TaskCall, type TaskResult } from './protocol.js'

export type ResidentResult = TaskResult & { thread: string }

export function answerWith(opening: Promise<object>): (call: TaskCall) => Promise<ResidentResult> {
  const thread = randomUUID()
  return async (call) => {
    const started = performance.now()
    try {
      const tasks = (await opening) as Record<string, (input: unknown) => Promise<unknown>>
      const task = tasks[call.task]
      if (task === undefined) throw new CpError('internal', `a resident thread has no task named ${call.task}`)
      const value = await task(call.input)
      return handedOver({ ok: true, value, ms: performance.now() - started, thread }, value)
    } catch (error) {
      return { ...failureOf(error, performance.now() - started), thread }
    }
  }
}
