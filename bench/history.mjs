// Does history slow the relay down? The time of reading a page of 500 with and without published rows, and the
// speed of a long drain at its end against its beginning.
import { connect } from 'nats'
import { queries } from '../dist/db/queries.js'
import { PRODUCT_FLAGS, runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { freshStream } from './lib/eventStream.mjs'
import { fillOutbox, resetOutbox } from './lib/outboxRows.mjs'

export default {
  name: 'history',
  run: async (ctx) => {
    const published = ctx.full ? 10_000_000 : 500_000
    const drained = ctx.full ? 1_000_000 : 200_000
    const servers = await ctx.servers()
    const database = await ctx.database()
    const sql = database.open({ max: 1 })
    const { outbox_read: read } = queries('outbox_read')
    const time = async () => {
      const took = []
      for (let round = 0; round < 60; round++) {
        const started = performance.now()
        const rows = await sql.unsafe(read.text, ['0', 500], { prepare: true })
        took.push(performance.now() - started)
        if (rows.length !== 500) throw new Error(`${rows.length} rows`)
      }
      return median(took.slice(10))
    }
    await fillOutbox(sql, { rows: 20_000, executions: 1_000 })
    await sql.unsafe('vacuum analyze noetl.outbox')
    const without = await time()
    await resetOutbox(sql)
    for (let done = 0; done < published; done += 500_000) {
      await fillOutbox(sql, {
        rows: Math.min(500_000, published - done),
        executions: 100_000,
        status: 'PUBLISHED',
        firstEvent: done + 1,
      })
    }
    await fillOutbox(sql, { rows: 20_000, executions: 1_000, firstEvent: published + 1 })
    await sql.unsafe('vacuum analyze noetl.outbox')
    const withHistory = await time()

    await resetOutbox(sql)
    for (let done = 0; done < drained; done += 200_000)
      await fillOutbox(sql, { rows: 200_000, executions: 20_000, firstEvent: done + 1 })
    await sql.unsafe('vacuum analyze noetl.outbox')
    // Else the first tenth works on pages that need no full image in the log, and the others do.
    await sql.unsafe('checkpoint')
    const nc = await connect({ servers: servers.natsUrl, token: servers.natsToken })
    await freshStream(nc)
    const result = await runScript(
      'relayRun.mjs',
      { url: database.url, natsUrl: servers.natsUrl, token: servers.natsToken, rows: drained },
      { flags: PRODUCT_FLAGS },
    ).finished
    await nc.close()
    const tenths = result.tenths.map((ms) => (drained / 10 / ms) * 1000)
    return [
      {
        name: `page of 500 beside ${published.toLocaleString('en')} published rows`,
        value: withHistory,
        unit: 'ms',
        ratio: withHistory / without,
        target: '<= 1.2',
        note: `${without.toFixed(2)} ms without`,
      },
      {
        name: `drain of ${drained.toLocaleString('en')} rows, last tenth`,
        value: tenths[9],
        unit: 'rows/s',
        ratio: tenths[9] / tenths[0],
        target: '>= 0.9',
        note: tenths.map(Math.round).join(' '),
      },
    ]
  },
}
