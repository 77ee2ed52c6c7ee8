// Shows how far a long replay is, on a terminal, while a worker thread counts in shared memory.
import type { CommandContext } from '../command.js'
import { createProgress } from '../progress.js'

const EVERY_MS = 250

export async function watching<T>(
  context: CommandContext,
  work: (progress: SharedArrayBuffer) => Promise<T>,
): Promise<T> {
  const progress = createProgress(context, 'events')
  const shared = new SharedArrayBuffer(4)
  const count = new Int32Array(shared)
  const timer = setInterval(() => progress.report(Atomics.load(count, 0)), EVERY_MS)
  try {
    return await work(shared)
  } finally {
    clearInterval(timer)
    progress.end()
  }
}
