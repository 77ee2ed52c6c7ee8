// How quickly /livez answers while events of the largest size arrive, with the limit raised to 16 MB. Asked from a thread
// of its own, so that the sender does not measure itself.
import { Worker } from 'node:worker_threads'
import { percentile } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'

const LIMIT_MB = 16
const EVENTS = 12
const WARM_UP = 3
const PROBE = { everyMs: 5, timeoutMs: 20_000 }
const P99_MS_MAX = 20

export default {
  name: 'alive',
  run: async (ctx) => {
    const database = await ctx.database()
    const daemon = await ctx.daemon({
      NOETL_DATABASE_URL: database.url,
      NOETL_CP_EVENT_LIMIT_MB: String(LIMIT_MB),
      NOETL_CP_BODY_LIMIT_MB: String(LIMIT_MB),
    })
    const client = createClient(daemon.url, 1)
    const content =
      'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {path: bench/alive, name: alive}\nworkflow: [{step: s, tool: {kind: noop}}]\n'
    await client.post('/api/catalog/register', JSON.stringify({ content }))
    const started = await client.post('/api/execute', JSON.stringify({ path: 'bench/alive', driven: false }))
    const { execution_id: id } = JSON.parse(started)
    const probe = new Worker(new URL('../test/attacks/livezProbe.mjs', import.meta.url), {
      workerData: { ...PROBE, url: daemon.url },
    })
    const times = () =>
      new Promise((resolve) => {
        probe.once('message', resolve)
        probe.postMessage('tell')
      })
    const post = (n) => client.post('/api/events', bodyOf(id, n))
    // The first ones pay for code that was never run before.
    for (let n = 0; n < WARM_UP; n++) await post(n)
    await times()
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const calm = await times()
    for (let n = 0; n < EVENTS; n++) await post(WARM_UP + n)
    const busy = await times()
    await probe.terminate()
    client.close()
    await daemon.stop()
    const p99 = percentile(busy, 0.99)
    return [
      { name: 'p99 of GET /livez, nothing else to do', value: percentile(calm, 0.99), unit: 'ms' },
      {
        name: `p99 of GET /livez while events of ${LIMIT_MB} MB arrive`,
        value: p99,
        unit: 'ms',
        ratio: p99 / P99_MS_MAX,
        target: '<= 1',
        note: `${busy.length} answers during ${EVENTS} events; the longest took ${Math.max(...busy).toFixed(0)} ms`,
      },
    ]
  },
}

function bodyOf(executionId, n) {
  const payload = {}
  const value = 'a text of ordinary length that a tool has written into its result'
  for (let key = 0; key < 190_000; key++) payload[`key_${n}_${key}`] = value
  // An id of its own: such an event is hashed as well.
  const event_id = String(BigInt(executionId) + 1000n + BigInt(n))
  return JSON.stringify({ execution_id: executionId, event_id, event_type: 'step.exit', step: 's', payload })
}
