// The relay beside graphile-worker and pg-boss: same servers, the same messages, in turn.
// They are installed here and are no dependency of the product.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { connect } from 'nats'
import { PRODUCT_FLAGS, runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { freshStream } from './lib/eventStream.mjs'
import { fillOutbox, resetOutbox } from './lib/outboxRows.mjs'

const ROWS = 100_000
const ROUNDS = 3

export default {
  name: 'peers',
  fullOnly: true,
  run: async (ctx) => {
    const folder = fileURLToPath(new URL('./peers', import.meta.url))
    execFileSync('npm', ['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error'], {
      cwd: folder,
      stdio: 'inherit',
    })
    const servers = await ctx.servers()
    const nc = await connect({ servers: servers.natsUrl, token: servers.natsToken })
    const database = await ctx.database()
    const peerDatabase = await ctx.database()
    const sql = database.open({ max: 1 })
    const shared = { natsUrl: servers.natsUrl, token: servers.natsToken, rows: ROWS }
    const rate = ({ rows, ms }) => (rows / ms) * 1000
    const relay = async () => {
      await freshStream(nc)
      await resetOutbox(sql)
      await fillOutbox(sql, { rows: ROWS, executions: 5_000 })
      await sql.unsafe('vacuum analyze noetl.outbox')
      return rate(await runScript('relayRun.mjs', { ...shared, url: database.url }, { flags: PRODUCT_FLAGS }).finished)
    }
    const peer = async (script, way) => {
      await freshStream(nc)
      // As their users run it, or with everything that we borrow them.
      const flags = way === 'raw' ? PRODUCT_FLAGS : []
      return rate(await runScript(`../peers/${script}`, { ...shared, url: peerDatabase.url, way }, { flags }).finished)
    }
    const measured = {
      relay: [],
      'graphile-worker js': [],
      'graphile-worker raw': [],
      'pg-boss js': [],
      'pg-boss raw': [],
    }
    for (let round = 0; round < ROUNDS; round++) {
      measured.relay.push(await relay())
      for (const way of ['js', 'raw']) {
        measured[`graphile-worker ${way}`].push(await peer('graphile.mjs', way))
        measured[`pg-boss ${way}`].push(await peer('pgboss.mjs', way))
      }
    }
    await nc.close()
    const best = (way) => Math.max(median(measured[`graphile-worker ${way}`]), median(measured[`pg-boss ${way}`]))
    const ours = median(measured.relay)
    return [
      ...Object.entries(measured).map(([name, values]) => ({
        name,
        value: median(values),
        unit: 'rows/s',
        note: values.map(Math.round).join(' '),
      })),
      {
        name: 'relay / faster peer, js.publish',
        value: ours,
        unit: 'rows/s',
        ratio: ours / best('js'),
        target: '>= 3',
      },
      {
        name: 'relay / faster peer, raw publish',
        value: ours,
        unit: 'rows/s',
        ratio: ours / best('raw'),
        target: '>= 1.5',
      },
    ]
  },
}
