// A worker that may be killed at any moment: takes commands by HTTP from whichever daemon answers, works for a moment, answers.
// Arguments: addresses of the daemons in a file, pool, name.
import { readFileSync } from 'node:fs'

const [, , file, pool, workerId] = process.argv
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let turn = 0

async function call(path, body) {
  const urls = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const url = urls[turn % urls.length]
  try {
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(10_000),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return text
  } catch (error) {
    turn += 1
    throw error
  }
}

function split(text) {
  const { commands } = JSON.parse(text.replace(/"(event_id|execution_id)":(\d+)/g, '"$1":"$2"'))
  return commands
}

async function work(command) {
  const { command_id: commandId, attempt } = command.meta
  await sleep(Math.random() * 150)
  const data = { from: command.node_name, n: command.context.args.n ?? null }
  const event = (type, status, payload) => ({
    step: command.node_name,
    event_type: type,
    status,
    payload: { command_id: commandId, attempt, ...payload },
  })
  const result = { status: 'success', context: { status: 'success', data } }
  const body = JSON.stringify({
    execution_id: command.execution_id,
    worker_id: workerId,
    events: [
      event('call.done', 'COMPLETED', { call_index: 0, result }),
      event('command.completed', 'success', { status: 'success' }),
    ],
  })
  // Until it is heard: whoever is killed in between has answered or not, and both must be right.
  for (let tries = 0; tries < 20; tries++) {
    try {
      await call('/api/events/batch', body)
      return
    } catch {
      await sleep(100)
    }
  }
}

for (;;) {
  try {
    const wanted = { worker_id: workerId, pools: [pool], max: 3, wait_seconds: 2, lease_seconds: 5 }
    await Promise.all(split(await call('/api/commands/claim', JSON.stringify(wanted))).map(work))
  } catch {
    await sleep(100)
  }
}
