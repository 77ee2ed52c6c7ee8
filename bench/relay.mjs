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

    const ours = []
    const theirs = []
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await bare())
      ours.push(await relay(5_000))
    }
    const hot = await relay(1)
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
    ]
  },
}
