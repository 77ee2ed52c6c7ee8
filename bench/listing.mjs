// Listing executions and showing one, by HTTP, while the log grows: they read the read model and must stay flat.
import { median } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'

const PER_EXECUTION = 100
const REQUESTS = 100
// Whatever the size of the log, a filter finds this many: what is compared is finding them, not sending more of them.
const FOUND = 60

export default {
  name: 'listing',
  run: async (ctx) => {
    const sizes = ctx.full ? [10_000, 300_000, 3_000_000] : [10_000, 300_000]
    const logs = []
    for (const size of sizes) {
      const database = await ctx.database()
      await grow(database.open({ max: 1 }), size / PER_EXECUTION)
      const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url, NOETL_CP_ADOPT_INTERVAL: '3600' })
      logs.push({ size, daemon, client: createClient(daemon.url, 1), executions: size / PER_EXECUTION })
    }
    const rows = []
    for (const [name, pathOf] of Object.entries(PAGES)) {
      const times = await measure(logs, pathOf)
      rows.push({
        name,
        value: times[times.length - 1],
        unit: 'ms',
        ratio: times[times.length - 1] / times[0],
        target: '<= 1.25',
        note: sizes.map((size, n) => `${size.toLocaleString('en')}: ${times[n].toFixed(2)} ms`).join(', '),
      })
    }
    for (const { client, daemon } of logs) {
      client.close()
      await daemon.stop()
    }
    return rows
  },
}

const idOf = (n) => String(300_000_000_000_000_000n + BigInt(n) * 4_194_304n)
// Some executions from all over the log, each asked for again: whether its pages lie in memory is not what is compared.
const ASKED = 25
const some = (n, executions) => idOf(1 + (n % ASKED) * (executions / 100))

const PAGES = {
  'first page': () => '/api/executions?limit=50',
  'page by status': () => '/api/executions?limit=50&status=FAILED',
  'page by path': () => '/api/executions?limit=50&path=bench/path7',
  'page by prefix': () => '/api/executions?limit=50&path=bench/path7*',
  'page by time': () => '/api/executions?limit=50&until=2026-01-01T00:01:00Z',
  'one execution': (n, executions) => `/api/executions/${some(n, executions)}`,
  'its status': (n, executions) => `/api/executions/${some(n, executions)}/status`,
}

/** The same request to each log in turn, so that whatever else the machine does hits all of them. */
async function measure(logs, pathOf) {
  const took = logs.map(() => [])
  for (let n = 0; n < REQUESTS; n++) {
    for (const [index, { client, executions }] of logs.entries()) {
      const started = performance.now()
      await client.get(pathOf(n, executions))
      // The first few warm caches, plans and compiled code.
      if (n >= REQUESTS / 4) took[index].push(performance.now() - started)
    }
  }
  return took.map(median)
}

/** Straight into the tables: what is measured here is reading. The failed ones and those of path7 lie far apart. */
async function grow(sql, executions) {
  const step = executions / 100
  await sql.unsafe(`
    insert into noetl.execution (execution_id, catalog_id, status, path, last_event_type, last_node_name, last_event_id, start_time, end_time, stream_version, event_count, start_event_id)
    select 300000000000000000 + n * 4194304::bigint, 1 + n % 50, case when n % ${step} = 0 and n / ${step} <= ${FOUND} then 'FAILED' when n % 10 = 3 then 'RUNNING' else 'COMPLETED' end,
      case when n % ${step} = ${step} - 1 and n / ${step} < ${FOUND} then 'bench/path7' else 'bench/other' || n % 50 end, 'playbook.completed', 'end', 300000000000000000 + n * 4194304::bigint + ${PER_EXECUTION},
      timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second' + interval '1 minute', ${PER_EXECUTION}, ${PER_EXECUTION}, 300000000000000001 + n * 4194304::bigint
    from generate_series(1, ${executions}) n`)
  await sql.unsafe(`
    insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, context, result, meta, stream_version, created_at)
    select 300000000000000000 + n * 4194304::bigint, 300000000000000000 + n * 4194304::bigint + v, 1,
      case v when 1 then 'playbook_started' when ${PER_EXECUTION} then 'playbook.completed' else 'step.enter' end, 'n', 'step_' || v % 20, 'RUNNING',
      case v when 1 then '{"path": "bench/path", "workload": {"a": 1}}'::jsonb end, '{"status": "RUNNING", "context": {"message": "an ordinary line"}}', '{"actionable": true}', v, timestamp '2026-01-01' + n * interval '1 second'
    from generate_series(1, ${executions}) n, generate_series(1, ${PER_EXECUTION}) v`)
  await sql.unsafe('vacuum analyze noetl.execution')
  await sql.unsafe('vacuum analyze noetl.event')
}
