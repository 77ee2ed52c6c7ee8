// A thread that asks /livez again and again on one connection and remembers how long each answer took. On its own, so
// that a busy test does not measure itself. Time in which other processes kept it, or the thread that answers, from a processor
// is taken off: that is the machine's. Time in which the daemon computes, waits or keeps itself from a processor is not.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { url, pid, everyMs, timeoutMs } = workerData
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
/** The system counts in hundredths of a second. */
const TICK_MS = 10
let times = []
let asked

function ask() {
  return new Promise((resolve) => {
    const started = now()
    asked = started
    const done = () => resolve(since(started))
    const request = http.get(new URL('/livez', url), { agent, timeout: timeoutMs }, (response) => {
      response.resume()
      response.on('end', done)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(timeoutMs))
  })
}

function now() {
  return { at: performance.now(), kept: keptMs('thread-self') + keptMs(`${pid}/task/${pid}`), others: othersMs() }
}

function since(started) {
  const { at, kept, others } = now()
  return at - started.at - Math.min(kept - started.kept, others - started.others)
}

/** So long a thread could have run and had no processor. */
function keptMs(thread) {
  return Number(fields(`/proc/${thread}/schedstat`)[1] ?? 0) / 1e6
}

/** So long processors have worked for others than the daemon. */
function othersMs() {
  const [, user, nice, system, , , ...interrupts] = fields('/proc/stat')
  const all = [user, nice, system, ...interrupts.slice(0, 3)].reduce((sum, ticks) => sum + Number(ticks ?? 0), 0)
  const own = fields(`/proc/${pid}/stat`)
  return (all - Number(own[11] ?? 0) - Number(own[12] ?? 0)) * TICK_MS
}

/** Of the first line, behind the name of a program, which may have spaces in it; nothing when the process has ended. */
function fields(path) {
  try {
    const [line] = readFileSync(path, 'utf8').split('\n')
    return line
      .slice(line.lastIndexOf(')') + 1)
      .trim()
      .split(/\s+/)
  } catch {
    return []
  }
}

// What was measured since the last time, and the one that is still waiting.
parentPort.on('message', () => {
  const open = asked === undefined ? [] : [since(asked)]
  parentPort.postMessage([...times, ...open])
  times = []
})

for (;;) {
  times.push(await ask())
  asked = undefined
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
