// Processor time of processes, which others on the machine add nothing to.
import { readdirSync, readFileSync } from 'node:fs'

const QUIET_SHARE = 0.2
const LOOK_MS = 300
const QUIET_LOOKS = 3
const GIVE_UP_MS = 120_000

/** Milliseconds that all threads of these processes were at work. */
export function processorMs(pids) {
  let nanoseconds = 0
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0])
    }
  }
  return nanoseconds / 1e6
}

/** A daemon that has just started folds what it finds; whoever measures something else waits for the end of it. */
export async function untilQuiet(pid) {
  const started = performance.now()
  let [quiet, before, at] = [0, processorMs([pid]), performance.now()]
  while (quiet < QUIET_LOOKS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const [now, nowAt] = [processorMs([pid]), performance.now()]
    quiet = (now - before) / (nowAt - at) < QUIET_SHARE ? quiet + 1 : 0
    ;[before, at] = [now, nowAt]
    if (nowAt - started > GIVE_UP_MS)
      throw new Error('the daemon is still at work, although nobody asks it for anything')
  }
}

/** Postgres itself and every process of it, by the id of any of its backends. */
export function serverProcesses(backendPid) {
  const parentOf = (pid) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])
  const postmaster = parentOf(backendPid)
  const others = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && parentOf(name) === postmaster
    } catch {
      return false // it has ended meanwhile
    }
  })
  return [postmaster, ...others.map(Number)]
}
