// A worker in one file, without dependencies: takes commands of kind http and answers them. See docs/workers.md.
//   NOETL_URL=http://127.0.0.1:8082 POOL=shared node examples/worker.ts    (Node 23; older ones run what tsc makes of it)
const url = process.env['NOETL_URL'] ?? 'http://127.0.0.1:8082'
const pool = process.env['POOL'] ?? 'shared'
const token = process.env['NOETL_API_TOKEN']
const workerId = `example-ts-${process.pid}`

interface Command {
  event_id: string
  execution_id: string
  node_name: string
  context: { tool_config: { url?: string; method?: string } }
  meta: { command_id: string; attempt: number }
}

async function call(method: string, path: string, body: object): Promise<any> {
  const answer = await fetch(new URL(path, url), {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  // Ids have 64 bits, more than a number of JavaScript: they stay text.
  return JSON.parse(text.replace(/"(event_id|execution_id)":(\d+)/g, '"$1":"$2"'))
}

/** What the tool returned, or its error. */
async function run({ url: target = '', method = 'GET' }: Command['context']['tool_config'], signal: AbortSignal) {
  try {
    const answer = await fetch(target, { method, signal })
    const data = { status_code: answer.status, body: await answer.text() }
    if (answer.ok) return { status: 'success', data }
    const error = {
      kind: answer.status < 500 ? 'client_error' : 'server_error',
      message: `HTTP ${answer.status} response`,
    }
    return { status: 'error', data, error }
  } catch (error) {
    return { status: 'error', error: { kind: 'connection', message: String(error) } }
  }
}

async function work(command: Command): Promise<void> {
  const stop = new AbortController()
  // Every few seconds: the lease goes on, and we hear if nobody wants the result any more.
  const beat = setInterval(() => {
    call('POST', `/api/commands/${command.event_id}/heartbeat`, { worker_id: workerId }).then(
      ({ cancelled }) => cancelled && stop.abort(),
      () => stop.abort(),
    )
  }, 5_000)
  try {
    const envelope = await run(command.context.tool_config, stop.signal)
    if (stop.signal.aborted) return
    const { command_id, attempt } = command.meta
    const event = (event_type: string, status: string, payload: object) => ({
      step: command.node_name,
      event_type,
      status,
      payload: { command_id, attempt, ...payload },
    })
    await call('POST', '/api/events/batch', {
      execution_id: command.execution_id,
      worker_id: workerId,
      events: [
        event('call.done', 'COMPLETED', { call_index: 0, result: { status: envelope.status, context: envelope } }),
        event('command.completed', envelope.status, { status: envelope.status }),
      ],
    })
    console.log(`${command_id} attempt ${attempt}: ${envelope.status}`)
  } finally {
    clearInterval(beat)
  }
}

await call('POST', '/api/worker/pool/register', {
  name: workerId,
  labels: { pool_name: pool },
  capabilities: { tools: ['http'] },
})
setInterval(() => call('POST', '/api/worker/pool/heartbeat', { name: workerId }).catch(console.error), 15_000)
for (;;) {
  try {
    const wanted = { worker_id: workerId, pools: [pool], kinds: ['http'], max: 4, wait_seconds: 30 }
    const { commands } = await call('POST', '/api/commands/claim', wanted)
    await Promise.all(commands.map(work))
  } catch (error) {
    console.error(error)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

export {}
