// A plain HTTP client over keep-alive connections. It shares the machine with the server it measures, so it does as little as
// can be: one write for a request, and of the answer its status and length are read.
import net from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

export function createClient(url, connections, extraHeaders = {}) {
  const { hostname, port, host } = new URL(url)
  const fixed = Object.entries(extraHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1\r\nhost: ${host}\r\n${fixed.join('')}`
  const open = new Set()
  const free = []
  const waiting = []

  /** Takes what is asked, one at a time; leaves when its server closes it. */
  function connection() {
    const socket = net.connect({ host: hostname, port: Number(port), noDelay: true })
    let asked
    let gathered = NOTHING
    const end = (error) => {
      open.delete(one)
      const at = free.indexOf(one)
      if (at >= 0) free.splice(at, 1)
      asked?.reject(error)
      asked = undefined
    }
    socket.on('error', end)
    socket.on('close', () => end(new Error('the server closed the connection')))
    socket.on('data', (chunk) => {
      gathered = gathered.length === 0 ? chunk : Buffer.concat([gathered, chunk])
      const answer = readAnswer(gathered)
      if (answer === undefined) return
      gathered = NOTHING
      const { resolve, reject, name } = asked
      asked = undefined
      if (answer.status === 200) resolve(answer.text)
      else reject(new Error(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`))
      const next = waiting.shift()
      if (next === undefined) free.push(one)
      else one.ask(next)
    })
    const one = {
      ask: (given) => {
        asked = given
        socket.write(given.text)
      },
      close: () => socket.destroy(),
    }
    open.add(one)
    return one
  }

  function request(method, path, body) {
    const about =
      body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
    const text = `${method} ${path} ${head}${about}\r\n${body ?? ''}`
    return new Promise((resolve, reject) => {
      const given = { text, name: `${method} ${path}`, resolve, reject }
      const one = free.pop() ?? (open.size < connections ? connection() : undefined)
      if (one === undefined) waiting.push(given)
      else one.ask(given)
    })
  }
  return {
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    close: () => {
      for (const one of open) one.close()
    },
  }
}

/** Undefined: not all of it is here. */
function readAnswer(bytes) {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.latin1Slice(0, headEnd)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)
  if (length === null) throw new Error(`an answer without its length: ${head}`)
  const start = headEnd + HEAD_END.length
  const end = start + Number(length[1])
  if (bytes.length < end) return undefined
  return { status: Number(head.slice(9, 12)), text: bytes.utf8Slice(start, end) }
}

/** Runs the jobs on so many lanes and answers the milliseconds each took. */
export async function onLanes(lanes, count, job) {
  const took = new Float64Array(count)
  let next = 0
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (;;) {
        const index = next++
        if (index >= count) return
        const started = performance.now()
        await job(index)
        took[index] = performance.now() - started
      }
    }),
  )
  return took
}

export const PLAYBOOK =
  'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata:\n  name: bench\n  path: bench/ingest\nworkload: {}\nworkflow:\n  - step: start\n    tool: {kind: python, code: "x = 1"}\n'

/** Registers a playbook and starts executions of it. */
export async function startExecutions(client, count) {
  await client.post('/api/catalog/register', JSON.stringify({ content: PLAYBOOK }))
  const body = JSON.stringify({
    executions: Array.from({ length: count }, () => ({ path: 'bench/ingest', driven: false })),
  })
  const { results } = JSON.parse(await client.post('/api/execute/batch', body))
  return results.map((result) => result.execution_id)
}

/** Events as workers report them: so many of one execution. */
export function batchBody(executionId, batch, size) {
  const events = Array.from({ length: size }, (_, n) => ({
    step: `step_${n % 20}`,
    event_type: n % 2 === 0 ? 'step.enter' : 'command.completed',
    worker_id: 'worker-7',
    payload: {
      command_id: `${executionId}:step_${n % 20}:${batch}`,
      row: { id: batch * size + n, name: 'a customer of ours', amount: 12.5, tags: ['a', 'b'] },
      message: 'the step has done what it was asked to do, in one line of ordinary length',
    },
  }))
  return JSON.stringify({ execution_id: executionId, events })
}
