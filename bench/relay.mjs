// The relay's rows per second as a share of a bare script on the same rows, in turn in the same run; then one hot
// execution, two relays at once, and both sides once more on a broker that syncs before it acknowledges.
import { connect } from 'nats'
import { PRODUCT_FLAGS, runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { startDurableNats } from './lib/durableNats.mjs'
import { freshStream } from './lib/eventStream.mjs'
import { countUnsettled, fillOutbox, hasUnsettled, resetOutbox } from './lib/outboxRows.mjs'

const ROWS = 40_000
const ROUNDS = 4
const HOT_ROWS = 8_000
const PAIR_ROUNDS = 2
const DURABLE_ROWS = 3_000
const GIVE_UP_MS = 120_000
const EXECUTIONS = 5_000

export default {
  name: 'relay',
  run: async (ctx) => {
    const servers = await ctx.servers()
    const database = await ctx.database()
    const sql = database.open({ max: 1 })
    const broker = await openBroker({ natsUrl: servers.natsUrl, token: servers.natsToken })
    const bench = createRuns(sql, database.url)
    try {
      const ours = []
      const theirs = []
      for (let round = 0; round < ROUNDS; round++) {
        theirs.push(await bench.bare(broker, ROWS))
        ours.push(await bench.relay(broker, ROWS, EXECUTIONS))
      }
      const hot = await bench.relay(broker, HOT_ROWS, 1)
      const pair = []
      for (let round = 0; round < PAIR_ROUNDS; round++) pair.push(await bench.twoRelays(broker, ROWS))
      return [
        { name: 'bare script', value: median(theirs), unit: 'rows/s', note: listed(theirs) },
        {
          name: 'relay, 5,000 executions',
          value: median(ours),
          unit: 'rows/s',
          ratio: median(ours.map((value, round) => value / theirs[round])),
          target: '>= 0.8',
          note: listed(ours),
        },
        { name: 'relay, one hot execution', value: hot, unit: 'rows/s', note: 'strictly one row on its way at a time' },
        { name: 'two relays, 5,000 executions', value: median(pair), unit: 'rows/s', note: listed(pair) },
        await durable(bench),
      ]
    } finally {
      await broker.close()
    }
  },
}

/** The same with durable acknowledgements. */
async function durable(bench) {
  const name = 'relay, sync_interval: always'
  const server = await startDurableNats()
  if (server.reason !== undefined) return { name, note: server.reason }
  const broker = await openBroker({ natsUrl: server.url })
  try {
    const bare = await bench.bare(broker, DURABLE_ROWS)
    const relay = await bench.relay(broker, DURABLE_ROWS, EXECUTIONS)
    const note = `bare script ${Math.round(bare)} rows/s, nats-server ${server.version}`
    return { name, value: relay, unit: 'rows/s', ratio: relay / bare, note }
  } finally {
    await broker.close()
    await server.stop()
  }
}

async function openBroker(address) {
  const nc = await connect({ servers: address.natsUrl, token: address.token })
  return {
    address,
    freshStream: () => freshStream(nc),
    close: () => nc.close(),
  }
}

function createRuns(sql, url) {
  const prepare = async (broker, rows, executions) => {
    await broker.freshStream()
    await resetOutbox(sql)
    await fillOutbox(sql, { rows, executions })
    await sql.unsafe('vacuum analyze noetl.outbox')
    await sql.unsafe('checkpoint')
  }
  const rate = ({ rows, ms }) => (rows / ms) * 1000
  return {
    relay: async (broker, rows, executions) => {
      await prepare(broker, rows, executions)
      return rate(await runScript('relayRun.mjs', { ...broker.address, url, rows }, { flags: PRODUCT_FLAGS }).finished)
    },
    bare: async (broker, rows) => {
      await prepare(broker, rows, EXECUTIONS)
      return rate(await runScript('bareRelay.mjs', { ...broker.address, url, rows }, { flags: PRODUCT_FLAGS }).finished)
    },
    /** Two processes share the lanes; they run until the table is empty. */
    twoRelays: async (broker, rows) => {
      await prepare(broker, rows, EXECUTIONS)
      await sql.unsafe('delete from noetl.member')
      const runs = [1, 2].map(() =>
        runScript('relayRun.mjs', { ...broker.address, url, rows: 0 }, { flags: PRODUCT_FLAGS }),
      )
      const giveUpAt = performance.now() + GIVE_UP_MS
      const pause = async () => {
        if (performance.now() > giveUpAt) throw new Error(`two relays did not end within ${GIVE_UP_MS / 1000} s`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      let left = rows
      for (; left === rows; left = await countUnsettled(sql)) await pause()
      const started = performance.now()
      while (await hasUnsettled(sql)) await pause()
      const ended = performance.now()
      for (const run of runs) run.stop()
      await Promise.all(runs.map((run) => run.finished))
      // From the first settled batch on: starting two processes is not what is measured.
      return rate({ rows: left, ms: ended - started })
    },
  }
}

function listed(values) {
  return values.map(Math.round).join(' ')
}
