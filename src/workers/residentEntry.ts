// The entry of a resident thread: opens its states once, then answers what is asked of them. Every answer carries
// the thread's own mark, so that the main thread notices when it talks to a successor.
import { randomUUID } from 'node:crypto'
import { Piscina } from 'piscina'
import { CpError } from '../errors.js'
import { openResidents, type ResidentSetup } from '../services/state/inThread/residentTasks.js'
import { handedOver } from './handedOver.js'
import { failureOf, type TaskCall, type TaskResult } from './protocol.js'

export type ResidentResult = TaskResult & { thread: string }

const thread = randomUUID()
const opening = openResidents(Piscina.workerData as ResidentSetup)

export default async function entry(call: TaskCall): Promise<ResidentResult> {
  const started = performance.now()
  try {
    const tasks = (await opening) as unknown as Record<string, (input: unknown) => Promise<unknown>>
    const task = tasks[call.task]
    if (task === undefined) throw new CpError('internal', `a resident thread has no task named ${call.task}`)
    const value = await task(call.input)
    return handedOver({ ok: true, value, ms: performance.now() - started, thread }, value)
  } catch (error) {
    return { ...failureOf(error, performance.now() - started), thread }
  }
}
