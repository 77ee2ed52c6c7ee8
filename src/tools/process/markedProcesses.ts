// Finds and kills processes by a variable in the environment they were started with: those that left their group. Linux
// only; elsewhere a process that makes itself a session of its own outlives its step.
import { readdir, readFile } from 'node:fs/promises'

const ROUNDS_MAX = 5

/** `mark`: NAME=value, not to be guessed. `since`: the number of a process that is older than all of them. */
export async function killMarked(mark: string, since: number): Promise<void> {
  // One that was killed may have started another meanwhile.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await findMarked(mark, since)
    if (found.length === 0) return
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It is gone.
      }
    }
  }
}

async function findMarked(mark: string, since: number): Promise<number[]> {
  const pids = await pidsSince(since)
  const marked = await Promise.all(pids.map((pid) => isMarked(pid, mark)))
  return pids.filter((_, index) => marked[index] === true)
}

/** Numbers go up, and begin again when they are used up: then all are looked at. */
async function pidsSince(since: number): Promise<number[]> {
  try {
    const [names, load] = await Promise.all([readdir('/proc'), readFile('/proc/loadavg', 'latin1')])
    const newest = Number(load.trim().split(' ').at(-1))
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
    return pids.filter((pid) => pid !== process.pid && (pid > since || newest < since))
  } catch {
    return []
  }
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0').includes(mark)
  } catch {
    // It ended, or belongs to somebody else.
    return false
  }
}
