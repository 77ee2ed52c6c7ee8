// Ingest by HTTP batch against the bare multi-row INSERT of the very same rows (events and outbox rows, same
// columns, same JSON text) by the same driver into the same database, round by round in turn.

import { PRODUCT_FLAGS } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { batchBody, createClient, onLanes, startExecutions } from './lib/http.mjs'

const LANES = 8
const BATCH = 500
const BATCHES = 24
const ROUNDS = 5
// Until the code that runs is compiled, on both threads.
const WARM_UP = 3

export default {
  name: 'ingest',
  run: async (ctx) => {
    // As it ships, live states fold what was ingested, on the same cores. Without a NATS nothing is relayed: that
    // is measured by itself.
    const shipped = await measure(ctx, {})
    const alone = await measure(ctx, { NOETL_CP_STATE: 'false' })
    return [
      {
        name: 'HTTP batch',
        value: shipped.http,
        unit: 'events/s',
        note: `${BATCH} events a request, ${LANES} connections`,
      },
      {
        name: 'of a bare INSERT … VALUES',
        value: shipped.values,
        unit: 'events/s',
        ratio: shipped.ofValues,
        target: '>= 0.6',
        note: 'same rows, columns, driver, database, transaction size',
      },
      {
        name: 'of a bare INSERT … unnest(arrays)',
        value: shipped.arrays,
        unit: 'events/s',
        ratio: shipped.ofArrays,
        note: 'one array per column',
      },
      {
        name: 'HTTP batch, live states off',
        value: alone.http,
        unit: 'events/s',
        ratio: alone.ofValues,
        note: 'NOETL_CP_STATE=false; ratio to INSERT … VALUES',
      },
    ]
  },
}

async function measure(ctx, settings) {
  const database = await ctx.database()
  const flags =
    process.env.BENCH_PROFILE === undefined
      ? []
      : [...PRODUCT_FLAGS, '--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url, ...settings }, flags)
  const client = createClient(daemon.url, LANES)
  const sql = database.open({ max: LANES, fetch_types: false })
  const executions = await startExecutions(client, LANES * (WARM_UP + ROUNDS))
  const perRound = BATCH * BATCHES

  const byHttp = async (round) => {
    const mine = executions.slice(round * LANES, (round + 1) * LANES)
    const bodies = Array.from({ length: BATCHES }, (_, n) => batchBody(mine[n % LANES], n, BATCH))
    const ms = await timed(() => onLanes(LANES, BATCHES, (n) => client.post('/api/events/batch', bodies[n])))
    await foldedAll(client)
    return ms
  }
  for (let round = 0; round < WARM_UP; round++) await byHttp(round)
  const rows = await readRows(sql, executions.slice(0, LANES), perRound)
  let moved = 10n ** 15n
  const bare = async (insert) => {
    // Other executions, so that nothing clashes; everything else is the same.
    const chunks = chunked(rows, BATCH).map((chunk) => chunk.map((row) => shifted(row, moved)))
    moved += 10n ** 15n
    return timed(() => onLanes(LANES, chunks.length, (n) => insert(sql, chunks[n])))
  }
  await bare(insertValues)
  await bare(insertArrays)

  const http = []
  const values = []
  const arrays = []
  for (let round = 0; round < ROUNDS; round++) {
    http.push(await byHttp(WARM_UP + round))
    values.push(await bare(insertValues))
    arrays.push(await bare(insertArrays))
  }
  client.close()
  await daemon.stop()
  const rate = (times) => median(times.map((ms) => (perRound / ms) * 1000))
  const paired = (others) => median(http.map((ms, round) => others[round] / ms))
  return {
    http: rate(http),
    values: rate(values),
    arrays: rate(arrays),
    ofValues: paired(values),
    ofArrays: paired(arrays),
  }
}

/** The bare rounds must not pay for live states that still catch up. */
async function foldedAll(client) {
  const folded = async () => /noetl_cp_state_events_applied_total (\d+)/.exec(await client.get('/metrics'))?.[1]
  for (let before, now = await folded(); now !== before; now = await folded()) {
    before = now
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function timed(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const EVENT_COLUMNS = [
  ['execution_id', 'bigint'],
  ['event_id', 'bigint'],
  ['catalog_id', 'bigint'],
  ['created_at', 'timestamp'],
  ['event_time', 'timestamptz'],
  ['event_type', 'text'],
  ['node_id', 'text'],
  ['node_name', 'text'],
  ['status', 'text'],
  ['worker_id', 'text'],
  ['result', 'jsonb'],
  ['meta', 'jsonb'],
  ['tenant_id', 'text'],
  ['organization_id', 'text'],
  ['stream_version', 'bigint'],
]
const OUTBOX_COLUMNS = [
  ['execution_id', 'bigint'],
  ['event_id', 'bigint'],
  ['subject', 'text'],
  ['payload', 'jsonb'],
  ['payload_codec', 'text'],
]

async function readRows(sql, executions, limit) {
  const select = (columns, alias) => columns.map(([name]) => `${alias}.${name}::text as ${alias}_${name}`).join(', ')
  return sql.unsafe(
    `select ${select(EVENT_COLUMNS, 'e')}, ${select(OUTBOX_COLUMNS, 'o')}
     from noetl.event e join noetl.outbox o using (execution_id, event_id)
     where execution_id = any('{${executions.join(',')}}'::bigint[]) and e.event_type <> 'playbook_started'
     order by o.outbox_id limit ${limit}`,
  )
}

function shifted(row, by) {
  const id = String(BigInt(row.e_execution_id) + by)
  return { ...row, e_execution_id: id, o_execution_id: id }
}

function chunked(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) => list.slice(n * size, (n + 1) * size))
}

const TABLES = [
  ['noetl.event', EVENT_COLUMNS, 'e'],
  ['noetl.outbox', OUTBOX_COLUMNS, 'o'],
]

/** One statement per table with a place for every value, in one transaction. */
function insertValues(sql, rows) {
  return sql.begin((tx) =>
    Promise.all(
      TABLES.map(([table, columns, alias]) => {
        const parameters = []
        const tuples = rows.map((row) => {
          const places = columns.map(([name, type]) => {
            parameters.push(row[`${alias}_${name}`])
            return `$${parameters.length}${type === 'jsonb' ? '::text::jsonb' : `::text::${type}`}`
          })
          return `(${places.join(',')})`
        })
        const text = `insert into ${table} (${columns.map(([name]) => name).join(',')}) values ${tuples.join(',')}`
        return tx.unsafe(text, parameters, { prepare: true })
      }),
    ),
  )
}

/** One array per column. */
function insertArrays(sql, rows) {
  return sql.begin((tx) =>
    Promise.all(
      TABLES.map(([table, columns, alias]) => {
        const names = columns.map(([name]) => name).join(',')
        const parameters = columns.map(([name]) => arrayText(rows.map((row) => row[`${alias}_${name}`])))
        const arrays = columns.map(([, type], n) => `$${n + 1}::text::${type === 'jsonb' ? 'text' : type}[]`)
        const picked = columns.map(([name, type]) => (type === 'jsonb' ? `${name}::jsonb` : name)).join(',')
        const text = `insert into ${table} (${names}) select ${picked} from unnest(${arrays.join(',')}) as given (${names})`
        return tx.unsafe(text, parameters, { prepare: true })
      }),
    ),
  )
}

function arrayText(values) {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`
}
