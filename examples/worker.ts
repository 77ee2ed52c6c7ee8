// A worker in one file, without dependencies: takes commands of kind http and answers them. See docs/workers.md.
//   NOETL_URL=http://127.0.0.1:8082 POOL=shared node examples/worker.ts    (Node 23; older ones run what tsc makes of it)
const url = process.env['NOETL_URL'] ?? 'http://127.0.0.1:8082'
const pool = process.env['POOL'] ?? 'shared'
const token = process.env['NOETL_API_TOKEN']
const workerId = `example-ts-${process.pid}`
let held: string[] = [] // what else it was given, because an answer was lost, goes to others
const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000))

interface Command {
  event_id: string
  execution_id: string
  node_name: string
  context: { tool_config: { url?: string; method?: string } }
  meta: { command_id: string; attempt: number; lease_token: number }
}

async function call(path: string, body: object): Promise<any> {
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(40_000),
  })
  const text = await answer.text()
  if (!answer.ok) throw Object.assign(new Error(`${path}: ${answer.status} ${text}`), { status: answer.status })
  // Ids have 64 bits, more than a number of JavaScript: they stay text.
  return JSON.parse(text.replace(/"(event_id|execution_id)":(\d+)/g, '"$1":"$2"'))
}

/** What the tool returned, or its error. */
async function run({ url: target = '', method = 'GET' }: Command['context']['tool_config'], signal: AbortSignal) {
  try {
    const answer = await fetch(target, { method, signal })
    const data = { status_code: answer.status, body: await answer.text() }
    if (answer.ok) return { status: 'success', data }
    const kind = answer.status < 500 ? 'client_error' : 'server_error'
    return { status: 'error', data, error: { kind, message: `HTTP ${answer.status} response` } }
  } catch (error) {
    return { status: 'error', error: { kind: 'connection', message: String(error) } }
  }
}

/** Again for five minutes while the daemon is away or busy: an answer that came twice counts once. */
async function send(answer: object, signal: AbortSignal): Promise<void> {
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      return await call('/api/events/batch', answer)
    } catch (error) {
      const { status = 503 } = error as { status?: number }
      if (tries === 15 || (status < 500 && status !== 408 && status !== 429)) throw error
      console.error('answer failed, again soon:', String(error))
      await pause(Math.min(30, 2 ** (tries - 1)))
    }
  }
}

async function work({ event_id, execution_id, node_name, context, meta }: Command): Promise<void> {
  const { command_id, attempt, lease_token } = meta
  const unwanted = new AbortController()
  // Every few seconds: the lease goes on. Only 409 and `cancelled` say stop: a daemon that is away comes back.
  const beat = setInterval(() => {
    call(`/api/commands/${event_id}/heartbeat`, { worker_id: workerId, lease_token }).then(
      ({ cancelled }) => cancelled && unwanted.abort(),
      (error) => (error.status === 409 ? unwanted.abort() : console.error('heartbeat failed:', String(error))),
    )
  }, 5_000)
  try {
    const envelope = await run(context.tool_config, unwanted.signal)
    const { status } = envelope
    const event = (event_type: string, outcome: string, payload: object) => {
      return { step: node_name, event_type, status: outcome, payload: { command_id, attempt, ...payload } }
    }
    const result = event('call.done', 'COMPLETED', { call_index: 0, result: { status, context: envelope } })
    const events = [result, event('command.completed', status, { status })]
    await send({ execution_id, worker_id: workerId, events }, unwanted.signal)
    console.log(`${command_id} attempt ${attempt}: ${unwanted.signal.aborted ? 'unwanted' : status}`)
  } finally {
    clearInterval(beat)
  }
}

const about = { name: workerId, labels: { pool_name: pool }, capabilities: { tools: ['http'] } }
await call('/api/worker/pool/register', about)
setInterval(() => call('/api/worker/pool/heartbeat', { name: workerId, commands: held }).catch(console.error), 15_000)
for (;;) {
  try {
    const wanted = { worker_id: workerId, pools: [pool], kinds: ['http'], max: 4, wait_seconds: 30 }
    const { commands } = await call('/api/commands/claim', wanted)
    held = commands.map(({ event_id }: Command) => event_id)
    await Promise.all(commands.map((command: Command) => work(command).catch(console.error)))
  } catch (error) {
    console.error(String(error))
    await pause(1)
  }
}

export {}
