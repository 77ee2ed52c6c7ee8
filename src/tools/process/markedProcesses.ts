// Finds and kills processes by a variable in the environment they were started with: those that left their group. Linux
// only; elsewhere a process that makes itself a session of its own outlives its step.
import { readdir, readFile } from 'node:fs/promises'

const ROUNDS_MAX = 5

/** `mark`: NAME=value, not to be guessed. */
export async function killMarked(mark: string): Promise<void> {
  // One that was killed may have started another meanwhile.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await findMarked(mark)
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

async function findMarked(mark: string): Promise<number[]> {
  let names: string[]
  try {
    names = await readdir('/proc')
  } catch {
    return []
  }
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const marked = await Promise.all(pids.map((pid) => isMarked(pid, mark)))
  return pids.filter((pid, index) => marked[index] === true && pid !== process.pid)
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0').includes(mark)
  } catch {
    // It ended, or belongs to somebody else.
    return false
  }
}
