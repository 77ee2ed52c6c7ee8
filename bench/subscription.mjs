// Messages from a source stream to committed execution starts, as a share of bare consume-and-ack plus bare insert
// (the time of the one after the other), in turn in the same run; and the list of 10,000 subscriptions.
import { connect } from 'nats'
import { loadConfig } from '../dist/config/load.js'
import { openDeps } from '../dist/daemon/deps.js'
import { productionEndpoints } from '../dist/daemon/endpoints.js'
import { silentLog } from '../dist/runtime/log.js'
import { pageOfSubscriptions } from '../dist/services/subscriptions/views.js'
import { runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'

const ROWS = 20_000
const ROUNDS = 3
const BODY = JSON.stringify({ order: 1, customer: 'c-0017', lines: [{ sku: 'a', n: 2 }], note: 'x'.repeat(120) })

async function fill(nc, jsm, name) {
  await jsm.streams.delete(name).catch(() => undefined)
  await jsm.streams.add({ name, subjects: [`${name}.>`] })
  const js = nc.jetstream()
  for (let done = 0; done < ROWS; done += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, () => js.publish(`${name}.m`, BODY)))
  }
}

async function delivery(ctx) {
  const servers = await ctx.servers()
  const nc = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  const jsm = await nc.jetstreamManager()
  const base = { natsUrl: servers.natsUrl, token: servers.natsToken, rows: ROWS, stream: 'BENCH_SUB', body: BODY }
  const rate = ({ rows, ms }) => (rows / ms) * 1000

  const bare = async () => {
    const database = await ctx.database()
    await fill(nc, jsm, 'BENCH_SUB')
    const consumed = await runScript('bareSubscription.mjs', { ...base, what: 'consume' }).finished
    const inserted = await runScript('bareSubscription.mjs', { ...base, url: database.url, what: 'insert' }).finished
    return {
      consume: rate(consumed),
      insert: rate(inserted),
      both: rate({ rows: ROWS, ms: consumed.ms + inserted.ms }),
    }
  }
  const ours = async () => {
    const database = await ctx.database()
    const sql = database.open({ max: 1 })
    await fill(nc, jsm, 'BENCH_SUB')
    const entry = `kind: Subscription\nmetadata: {path: bench/sub}\nspec:\n  source: nats\n  stream: BENCH_SUB\n  mode: pull\n  dispatch: {playbook: bench/handler}\n`
    const handler = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {path: bench/handler}\nworkflow:\n  - {step: start, tool: {kind: noop}}\n`
    await sql`insert into noetl.catalog (catalog_id, path, version, kind, content) values (1, 'bench/handler', 1, 'playbook', ${handler}), (2, 'bench/sub', 1, 'subscription', ${entry})`
    await sql`insert into noetl.subscription (subscription_id, path, catalog_id, catalog_version, mode, source, state) values (1, 'bench/sub', 2, 1, 'pull', 'nats', 'ACTIVE')`
    return rate(await runScript('subscriptionRun.mjs', { ...base, url: database.url }).finished)
  }
  const theirs = []
  const mine = []
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await bare())
    mine.push(await ours())
  }
  await jsm.streams.delete('BENCH_SUB')
  await nc.close()
  const note = (values) => values.map(Math.round).join(' ')
  return [
    { name: 'bare consume and ack', value: median(theirs.map((run) => run.consume)), unit: 'messages/s' },
    { name: 'bare insert', value: median(theirs.map((run) => run.insert)), unit: 'starts/s' },
    {
      name: 'one after the other',
      value: median(theirs.map((run) => run.both)),
      unit: '/s',
      note: note(theirs.map((run) => run.both)),
    },
    {
      name: 'messages to committed starts',
      value: median(mine),
      unit: '/s',
      ratio: median(mine.map((value, round) => value / theirs[round].both)),
      target: '>= 0.6',
      note: note(mine),
    },
  ]
}

async function listing(ctx) {
  const database = await ctx.database()
  const sql = database.open({ max: 1 })
  await sql`insert into noetl.subscription (subscription_id, path, catalog_id, catalog_version, mode, source, state, version, last_event_type, last_event_id, updated_at, spec)
    select n, 'bench/sub-' || n, n, 1, 'pull', 'nats', case when n % 3 = 0 then 'PAUSED' else 'ACTIVE' end, 2, 'subscription.activated', n, now(), '{"source": "nats", "mode": "pull"}'
    from generate_series(1, 10000) as n`
  await sql.unsafe('analyze noetl.subscription')
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url, NOETL_CP_SUBSCRIPTIONS: 'false' })
  const list = async () => {
    const began = performance.now()
    const answer = await (await fetch(`${daemon.url}/api/subscriptions?limit=10000`)).json()
    if (answer.subscriptions.length !== 10_000) throw new Error(`${answer.subscriptions.length} listed`)
    return performance.now() - began
  }
  await list()
  const times = []
  for (let round = 0; round < 7; round++) times.push(await list())
  await daemon.stop()
  const queries = await countQueries(database.url)
  return [
    {
      name: 'list of 10,000 subscriptions',
      value: median(times),
      unit: 'ms',
      note: `${queries} query`,
    },
  ]
}

/** The same list without the daemon around it, whose loops query, too. */
async function countQueries(url) {
  const { config } = loadConfig({ NOETL_DATABASE_URL: url })
  const deps = openDeps({ config, endpoints: productionEndpoints(config), log: silentLog, applicationName: 'bench' })
  await pageOfSubscriptions(deps, {
    state: null,
    pathPattern: null,
    mode: null,
    cursor: null,
    limit: 10_000,
    order: 'newest',
  })
  const text = await deps.metrics.render()
  await deps.close(1_000)
  return [...text.matchAll(/^noetl_cp_db_queries_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
}

export default {
  name: 'subscription',
  run: async (ctx) => [...(await delivery(ctx)), ...(await listing(ctx))],
}
