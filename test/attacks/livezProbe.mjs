// A thread that asks /livez again and again on one connection and remembers how long each answer took. On its own, so
// that a busy test does not measure itself.
import http from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { url, everyMs, timeoutMs } = workerData
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
let times = []
let asked

function ask() {
  return new Promise((resolve) => {
    const started = performance.now()
    asked = started
    const done = () => resolve(performance.now() - started)
    const request = http.get(new URL('/livez', url), { agent, timeout: timeoutMs }, (response) => {
      response.resume()
      response.on('end', done)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(timeoutMs))
  })
}

// What was measured since the last time, and the one that is still waiting.
parentPort.on('message', () => {
  const open = asked === undefined ? [] : [performance.now() - asked]
  parentPort.postMessage([...times, ...open])
  times = []
})

for (;;) {
  times.push(await ask())
  asked = undefined
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
