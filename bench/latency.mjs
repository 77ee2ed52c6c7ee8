// From a committed row to its delivery, with an idle queue: a writer in another process inserts and notifies,
// a plain subscriber waits. Beside it the floor: one bare insert-commit plus one bare publish with its answer.
import { connect } from 'nats'
import { median, percentile } from './lib/context.mjs'

const SAMPLES = 200
const PAUSE_MS = 10

export default {
  name: 'latency',
  run: async (ctx) => {
    const servers = await ctx.servers()
    const database = await ctx.database()
    const nc = await connect({ servers: servers.natsUrl, token: servers.natsToken, noAsyncTraces: true })
    const env = {
      NOETL_DATABASE_URL: database.url,
      NOETL_NATS_URL: servers.natsUrl,
      NOETL_NATS_TOKEN: servers.natsToken,
      NOETL_EVENT_NATS_STREAM: 'LATENCY',
      NOETL_EVENT_NATS_SUBJECT_PREFIX: 'latency',
    }
    const daemon = await ctx.daemon(env)
    const sql = database.open({ max: 1 })
    const payload = JSON.stringify({ filler: 'x'.repeat(480) })
    const insert = (n, notify) =>
      sql.begin(async (tx) => {
        await tx`insert into noetl.outbox (execution_id, event_id, subject, payload) values (${n}, ${n}, ${`latency.a.b.${n}.0`}, ${payload}::text::jsonb)`
        if (notify) await tx`select pg_notify('noetl_outbox', '')`
      })
    const arrivals = new Map()
    nc.subscribe('latency.>', { callback: (_, message) => arrivals.get(message.subject)?.() })
    await nc.flush()

    const delivered = []
    for (let n = 1; n <= SAMPLES; n++) {
      let arrived
      const arrival = new Promise((resolve) => {
        arrived = resolve
      })
      arrivals.set(`latency.a.b.${n}.0`, () => arrived(performance.now()))
      await insert(n, true)
      const committed = performance.now()
      delivered.push(Math.max(0, (await arrival) - committed))
      await pause()
    }
    await daemon.stop()

    const inserts = []
    for (let n = 1; n <= SAMPLES; n++) {
      const started = performance.now()
      await insert(1_000_000 + n, false)
      inserts.push(performance.now() - started)
      await pause()
    }
    const jsm = await nc.jetstreamManager()
    await jsm.streams.add({ name: 'LATENCY_BARE', subjects: ['bare.>'] })
    const publishes = []
    for (let n = 1; n <= SAMPLES; n++) {
      const started = performance.now()
      await nc.request(`bare.${n}`, payload)
      publishes.push(performance.now() - started)
      await pause()
    }
    await nc.close()
    const floor = median(inserts) + median(publishes)
    return [
      {
        name: 'commit to delivery, p50',
        value: median(delivered),
        unit: 'ms',
        ratio: median(delivered) / floor,
        target: '<= 2',
        note: `floor ${floor.toFixed(2)} ms: insert ${median(inserts).toFixed(2)}, publish ${median(publishes).toFixed(2)}`,
      },
      { name: 'commit to delivery, p99', value: percentile(delivered, 0.99), unit: 'ms' },
    ]
  },
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}
