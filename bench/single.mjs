// Single-event requests on 50 connections beside a route of the same server that does nothing.
import { median, percentile } from './lib/context.mjs'
import { createClient, onLanes, startExecutions } from './lib/http.mjs'

const CONNECTIONS = 50
const REQUESTS = 4_000
const ROUNDS = 3
// A daemon that has run for a while is meant: after a few thousand requests much of it is still being compiled.
const WARM_UP = 20_000

export default {
  name: 'single',
  run: async (ctx) => {
    const database = await ctx.database()
    const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url })
    const client = createClient(daemon.url, CONNECTIONS)
    const executions = await startExecutions(client, 100)
    const bodies = executions.map((executionId) =>
      JSON.stringify({
        execution_id: executionId,
        step: 'a',
        event_type: 'step.enter',
        payload: { n: 1, text: 'short' },
      }),
    )
    const event = (n) => client.post('/api/events', bodies[n % bodies.length])
    const nothing = () => client.get('/livez')
    await onLanes(CONNECTIONS, WARM_UP, event)
    await onLanes(CONNECTIONS, WARM_UP, nothing)
    const runs = { event: [], nothing: [] }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, job] of [
        ['event', event],
        ['nothing', nothing],
      ]) {
        const started = performance.now()
        const took = await onLanes(CONNECTIONS, REQUESTS, job)
        runs[name].push({ rate: (REQUESTS / (performance.now() - started)) * 1000, took })
      }
    }
    client.close()
    await daemon.stop()
    const of = (name) => {
      const all = runs[name].flatMap(({ took }) => [...took])
      return { rate: median(runs[name].map(({ rate }) => rate)), p50: percentile(all, 0.5), p99: percentile(all, 0.99) }
    }
    const [posted, idle] = [of('event'), of('nothing')]
    const times = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms at ${CONNECTIONS} connections`
    return [
      {
        name: 'POST /api/events',
        value: posted.rate,
        unit: 'req/s',
        ratio: posted.rate / idle.rate,
        target: '>= 0.3',
        note: `live states on; ${times(posted)}`,
      },
      { name: 'GET /livez', value: idle.rate, unit: 'req/s', note: times(idle) },
      { name: 'p50 of an event', value: posted.p50, unit: 'ms', ratio: posted.p50 / idle.p50, note: 'ratio to /livez' },
      {
        name: 'p99 of an event',
        value: posted.p99,
        unit: 'ms',
        ratio: posted.p99 / posted.p50,
        target: '<= 4',
        note: 'ratio to its p50',
      },
    ]
  },
}
