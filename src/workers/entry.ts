// The entry of every worker thread: looks the task up, runs it, turns a failure into a value.
import { move, Piscina } from 'piscina'
import { CpError } from '../errors.js'
import { failureOf, type TaskCall, type TaskResult } from './protocol.js'
import { TASKS } from './tasks/index.js'

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

/** Byte arrays of the answer change hands instead of being copied. */
function handedOver(result: TaskResult, value: unknown): TaskResult {
  if (typeof value !== 'object' || value === null) return result
  const buffers = Object.values(value).flatMap((item) =>
    item instanceof Uint8Array && item.buffer instanceof ArrayBuffer ? [item.buffer] : [],
  )
  if (buffers.length === 0) return result
  const movable = { [Piscina.transferableSymbol]: buffers, [Piscina.valueSymbol]: result }
  return move(movable as never) as unknown as TaskResult
}
