// Scale-out on one machine: 1, 2 and 4 databases with as many daemons, all of one topology. Each outbox is filled
// first; then the daemons start and share the work. Reports rows per second, how evenly daemons and shards were
// served, who used the processor, and the constants that docs/capacity.md calculates with.
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'nats'
import { shardOf } from '../dist/domain/shards/shards.js'
import { createClient, onLanes, startExecutions } from './lib/http.mjs'
import { countUnsettled, hasUnsettled } from './lib/outboxRows.mjs'

const ROWS = 40_000
const EXECUTIONS = 2_000
const SIZES = [1, 2, 4]
const IDLE_MS = 10_000
const STORED_EVENTS = 20_000
const BATCH = 500
const GIVE_UP_MS = 180_000

export default {
  name: 'scale',
  fullOnly: true,
  run: async (ctx) => {
    const rows = []
    let single
    for (const size of SIZES) {
      const run = await relayed(ctx, size)
      single ??= run.rate
      rows.push({
        name: `${size} ${size === 1 ? 'daemon' : 'daemons'}, ${size} ${size === 1 ? 'shard' : 'shards'}`,
        value: run.rate,
        unit: 'rows/s',
        ratio: run.rate / single,
        note: `least/most of a daemon ${run.byDaemon.toFixed(2)}, of a shard ${run.byShard.toFixed(2)}; cores used: ${run.cores}`,
      })
      if (size === SIZES[SIZES.length - 1]) {
        rows.push({
          name: 'idle daemon, per shard',
          value: run.idle.transactions,
          unit: 'transactions/s',
          note: `${run.idle.connections.toFixed(1)} connections of a daemon to a shard; ${size} daemons, ${size} shards`,
        })
      }
    }
    rows.push(...(await storage(ctx)))
    return rows
  },
}

async function relayed(ctx, size) {
  const servers = await ctx.servers()
  const databases = []
  for (let n = 0; n < size; n++) databases.push(await ctx.database())
  const drivers = databases.map((database) => database.open({ max: 1 }))
  await Promise.all(drivers.map((sql, shard) => fill(sql, shard, size)))
  const nats = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  const jsm = await nats.jetstreamManager()
  await jsm.streams.delete('NOETL_EVENTS').catch(() => undefined)

  const env = {
    NOETL_DATABASE_URL: databases[0].url,
    ...(size === 1 ? {} : { NOETL_SHARDS: databases.map(({ url }) => url).join(',') }),
    NOETL_NATS_URL: servers.natsUrl,
    NOETL_NATS_TOKEN: servers.natsToken,
    // What is measured is the relay; events of these rows do not exist.
    NOETL_CP_STATE: 'false',
  }
  const daemons = await Promise.all(Array.from({ length: size }, () => ctx.daemon(env)))
  const left = async () => Promise.all(drivers.map(countUnsettled))
  let before = await left()
  // From the first settled rows on: starting processes is not what is measured.
  const giveUpAt = performance.now() + GIVE_UP_MS
  const stillWaiting = (rows) => {
    if (performance.now() > giveUpAt)
      throw new Error(`${sum(rows)} rows were not relayed within ${GIVE_UP_MS / 1000} s`)
  }
  for (; sum(before) === ROWS * size; before = await left()) {
    stillWaiting(before)
    await sleep(10)
  }
  const cpuBefore = cpuByProgram()
  const started = performance.now()
  const endedAt = drivers.map(() => undefined)
  while (endedAt.includes(undefined)) {
    const isDone = await Promise.all(drivers.map(async (sql) => !(await hasUnsettled(sql))))
    for (const [shard, done] of isDone.entries()) if (done) endedAt[shard] ??= performance.now() - started
    if (performance.now() > giveUpAt) stillWaiting(await left())
    await sleep(20)
  }
  const seconds = (performance.now() - started) / 1000
  const cores = usedCores(cpuBefore, cpuByProgram(), seconds)
  const published = await Promise.all(daemons.map(publishedBy))
  const idle = await idleLoad(drivers, daemons.length)
  await Promise.all(daemons.map((daemon) => daemon.stop()))
  await nats.close()
  return {
    rate: sum(before) / seconds,
    byDaemon: Math.min(...published) / Math.max(...published),
    byShard: Math.min(...endedAt) / Math.max(...endedAt),
    cores,
    idle,
  }
}

/** Rows of executions that belong to this shard. */
async function fill(sql, shard, count) {
  const ids = []
  for (let n = 0n; ids.length < EXECUTIONS; n++) {
    const id = String(380_000_000_000_000_000n + n * 4_194_304n)
    if (shardOf(id, count) === shard) ids.push(id)
  }
  await sql.unsafe(
    `insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec, status)
     select e, n, 'noetl.events.default.default.' || e || '.${shard}',
       jsonb_build_object('event_id', n, 'execution_id', e, 'event_type', 'step.exit', 'stream_version', (n - 1) / ${EXECUTIONS} + 1,
         'timestamp', '2026-11-16T00:00:00.000000+00:00', 'filler', repeat('x', 337)), 'json', 'PENDING'
     from (select n, ('{${ids.join(',')}}'::bigint[])[1 + n % ${EXECUTIONS}] as e from generate_series(1, ${ROWS}) as n) as g`,
  )
  await sql.unsafe('vacuum analyze noetl.outbox')
}

async function publishedBy(daemon) {
  const client = createClient(daemon.url, 1)
  const text = await client.get('/metrics')
  client.close()
  const counts = [...text.matchAll(/^noetl_cp_outbox_publish_total\{outcome="stored"\} (\d+)/gm)].map(([, n]) =>
    Number(n),
  )
  return sum(counts)
}

/** What daemons without work ask of a shard. */
async function idleLoad(drivers, daemons) {
  const commits = async (sql) => {
    await sql.unsafe('select pg_stat_clear_snapshot()')
    const [row] = await sql.unsafe(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
    )
    return Number(row.count)
  }
  await sleep(2_000)
  const [sql] = drivers
  const before = await commits(sql)
  await sleep(IDLE_MS)
  const after = await commits(sql)
  const [{ count }] = await sql.unsafe(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  return { transactions: (after - before) / (IDLE_MS / 1000) / daemons, connections: count / daemons }
}

/** Bytes that an event of ordinary size takes, with its indexes, its outbox row and its message. */
async function storage(ctx) {
  const servers = await ctx.servers()
  const database = await ctx.database()
  const sql = database.open({ max: 1 })
  const daemon = await ctx.daemon({
    NOETL_DATABASE_URL: database.url,
    NOETL_NATS_URL: servers.natsUrl,
    NOETL_NATS_TOKEN: servers.natsToken,
  })
  const client = createClient(daemon.url, 4)
  const executions = await startExecutions(client, 40)
  const body = (id) =>
    JSON.stringify({
      execution_id: id,
      events: Array.from({ length: BATCH }, (_, n) => ({
        step: `step_${n % 20}`,
        event_type: n % 2 === 0 ? 'step.enter' : 'command.completed',
        worker_id: 'worker-7',
        payload: { command_id: `${id}:${n}`, row: { id: n, name: 'a customer of ours', amount: 12.5 } },
      })),
    })
  await onLanes(4, STORED_EVENTS / BATCH, (n) => client.post('/api/events/batch', body(executions[n])))
  const giveUpAt = performance.now() + GIVE_UP_MS
  while ((await countUnsettled(sql)) > 0) {
    if (performance.now() > giveUpAt) throw new Error('the events were not relayed in time')
    await sleep(50)
  }
  const [{ event, outbox }] = await sql.unsafe(
    `select sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'event%')::bigint as event,
            sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'outbox')::bigint as outbox
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'noetl' and c.relkind = 'r'`,
  )
  const nats = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  const { state } = await (await nats.jetstreamManager()).streams.info('NOETL_EVENTS')
  await nats.close()
  client.close()
  await daemon.stop()
  const perEvent = (bytes) => Number(bytes) / STORED_EVENTS
  return [
    { name: 'stored per event: log', value: perEvent(event), unit: 'bytes', note: 'row and indexes' },
    { name: 'stored per event: outbox', value: perEvent(outbox), unit: 'bytes', note: 'until it is purged' },
    { name: 'stored per event: stream', value: state.bytes / state.messages, unit: 'bytes', note: 'one replica' },
  ]
}

/** Clock ticks used so far, by program. */
function cpuByProgram() {
  const used = { daemons: 0, postgres: 0, nats: 0 }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
      const ticks = Number(fields[11]) + Number(fields[12])
      if (command.includes('noetl-cp.js')) used.daemons += ticks
      else if (command.startsWith('postgres') || command.includes('/postgres')) used.postgres += ticks
      else if (command.includes('nats-server')) used.nats += ticks
    } catch {
      // It ended between the two looks.
    }
  }
  return used
}

function usedCores(before, after, seconds) {
  return Object.keys(before)
    .map((name) => `${name} ${((after[name] - before[name]) / 100 / seconds).toFixed(2)}`)
    .join(', ')
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
