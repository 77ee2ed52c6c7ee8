// A plain HTTP client over keep-alive connections; nothing in it that would be measured instead of the server.
import http from 'node:http'

export function createClient(url, connections, extraHeaders = {}) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)

  function request(method, path, body) {
    return new Promise((resolve, reject) => {
      const about =
        body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const headers = { ...extraHeaders, ...about }
      const sent = http.request({ agent, hostname, port, method, path, headers }, (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(text)
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`))
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
  return {
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    close: () => agent.destroy(),
  }
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
