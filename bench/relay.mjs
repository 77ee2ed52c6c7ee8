// The relay's rows per second as a share of a bare script on the same rows, in turn in the same run.
import { connect } from 'nats'
import { runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { fillOutbox, resetOutbox } from './lib/outboxRows.mjs'

const ROWS = 60_000
const ROUNDS = 5

export default {
  name: 'relay',
  run: async (ctx) => {
    const servers = await ctx.servers()
    const database = await ctx.database()
    const sql = database.open({ max: 1 })
    const target = { url: database.url, natsUrl: servers.natsUrl, token: servers.natsToken }
    const nc = await connect({ servers: servers.natsUrl, token: servers.natsToken })
    const jsm = await nc.jetstreamManager()
    await jsm.streams
      .add({ name: 'NOETL_EVENTS', subjects: ['noetl.events.>'], duplicate_window: 120e9, max_age: 86400e9 })
      .catch(() => undefined)

    const prepare = async (executions) => {
      await jsm.streams.purge('NOETL_EVENTS')
      await jsm.streams.delete('NOETL_EVENTS')
      await jsm.streams.add({
        name: 'NOETL_EVENTS',
        subjects: ['noetl.events.>'],
        duplicate_window: 120e9,
        max_age: 86400e9,
      })
      await resetOutbox(sql)
      await fillOutbox(sql, { rows: ROWS, executions })
      await sql.unsafe('vacuum analyze noetl.outbox')
      await sql.unsafe('checkpoint')
    }
    const rate = ({ rows, ms }) => (rows / ms) * 1000
    const relay = async (executions) => {
      await prepare(executions)
      return rate(await runScript('relayRun.mjs', { ...target, rows: ROWS }).finished)
    }
    const bare = async () => {
      await prepare(5_000)
      return rate(await runScript('bareRelay.mjs', { ...target, rows: ROWS }).finished)
    }

    /** Two processes share the lanes; they run until the table is empty. */
    const twoRelays = async () => {
      await prepare(5_000)
      await sql.unsafe('delete from noetl.outbox_relay')
      const started = performance.now()
      const runs = [1, 2].map(() => runScript('relayRun.mjs', { ...target, rows: 0 }))
      let first
      for (;;) {
        const [{ left }] = await sql`select count(*)::int as left from noetl.outbox where status <> 'PUBLISHED'`
        if (first === undefined && left < ROWS) first = { at: performance.now(), left }
        if (left === 0) break
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const ended = performance.now()
      for (const run of runs) run.stop()
      await Promise.all(runs.map((run) => run.finished))
      // From the first settled batch on: starting two processes is not what is measured.
      return rate({ rows: first?.left ?? ROWS, ms: ended - (first?.at ?? started) })
    }

    const ours = []
    const theirs = []
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await bare())
      ours.push(await relay(5_000))
    }
    const hot = await relay(1)
    const pair = []
    for (let round = 0; round < 3; round++) pair.push(await twoRelays())
    await nc.close()
    return [
      { name: 'bare script', value: median(theirs), unit: 'rows/s', note: theirs.map(Math.round).join(' ') },
      {
        name: 'relay, 5,000 executions',
        value: median(ours),
        unit: 'rows/s',
        ratio: median(ours.map((value, round) => value / theirs[round])),
        target: '>= 0.8',
        note: ours.map(Math.round).join(' '),
      },
      { name: 'relay, one hot execution', value: hot, unit: 'rows/s', note: 'strictly one row on its way at a time' },
      {
        name: 'two relays, 5,000 executions',
        value: median(pair),
        unit: 'rows/s',
        note: pair.map(Math.round).join(' '),
      },
    ]
  },
}
