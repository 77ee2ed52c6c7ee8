// Stops servers that an earlier daemon left behind on our data. Called only under the lock of the data
// folder, so whatever runs there belongs to nobody. Gentle first; a server is killed only after its
// deadline, and it is never started beside a living one.

import { CpError } from '../errors.js'
import type { EmbeddedLog } from './embeddedLog.js'
import type { StopSignal } from './leash.js'
import { pollUntil } from './pollUntil.js'

export interface OrphanSearch {
  name: string
  /** The processes that take the gentle signals and pass them on to their own children. */
  leaders: () => number[]
  /** Everything that must be gone, leaders included. */
  everyone: () => number[]
  steps: readonly { signal: StopSignal; waitMs: number }[]
}

export async function stopOrphans(
  search: OrphanSearch,
  log: EmbeddedLog,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const step of search.steps) {
    const left = search.everyone()
    if (left.length === 0) return
    const targets = step.signal === 'KILL' ? left : search.leaders()
    log('warn', `${search.name} of an earlier run is still there; stopping it`, { pids: left, signal: step.signal })
    for (const pid of targets) send(pid, step.signal)
    const gone = await pollUntil(() => (search.everyone().length === 0 ? true : undefined), {
      everyMs: 50,
      deadlineMs: step.waitMs,
      signal,
    })
    if (gone) return
  }
  const left = search.everyone()
  if (left.length === 0) return
  throw new CpError(
    'unavailable',
    `${search.name} of an earlier run (pid ${left.join(', ')}) does not stop; end it with: kill -9 ${left.join(' ')}`,
  )
}

function send(pid: number, signal: StopSignal): void {
  try {
    process.kill(pid, `SIG${signal}`)
    process.kill(pid, 'SIGCONT')
  } catch {
    // Gone in the meantime, or not ours to signal; the look that follows tells which.
  }
}
