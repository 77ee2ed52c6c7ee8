// Listing executions and showing one, by HTTP, while the log grows: they read the read model and must stay flat.
import { median } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'

const PER_EXECUTION = 100
const REQUESTS = 60

export default {
  name: 'listing',
  run: async (ctx) => {
    const database = await ctx.database()
    const sql = database.open({ max: 1 })
    const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url, NOETL_CP_ADOPT_INTERVAL: '3600' })
    const client = createClient(daemon.url, 1)
    const sizes = ctx.full ? [10_000, 300_000, 3_000_000] : [10_000, 300_000]
    const measured = []
    let executions = 0
    // Compiled code and open connections first, or the small log pays for the warm-up of the large one.
    for (let n = 0; n < 300; n++) await client.get('/api/executions/1').catch(() => client.get('/api/executions'))
    for (const size of sizes) {
      await grow(sql, executions, size / PER_EXECUTION)
      executions = size / PER_EXECUTION
      measured.push({ size, times: await measure(client, executions) })
    }
    client.close()
    await daemon.stop()
    const [first, last] = [measured[0], measured[measured.length - 1]]
    return Object.keys(first.times).map((name) => ({
      name,
      value: last.times[name],
      unit: 'ms',
      ratio: last.times[name] / first.times[name],
      target: '<= 2',
      note: `${measured.map(({ size, times }) => `${size.toLocaleString('en')}: ${times[name].toFixed(2)} ms`).join(', ')}`,
    }))
  },
}

/** Straight into the tables: what is measured here is reading. One in a thousand failed. */
async function grow(sql, from, to) {
  await sql.unsafe(`
    insert into noetl.execution (execution_id, catalog_id, status, path, last_event_type, last_node_name, last_event_id, start_time, end_time, stream_version, event_count, start_event_id)
    select 300000000000000000 + n * 4194304::bigint, 1 + n % 50, case when n % 1000 = 7 then 'FAILED' when n % 10 = 3 then 'RUNNING' else 'COMPLETED' end,
      'bench/path' || n % 50, 'playbook.completed', 'end', 300000000000000000 + n * 4194304::bigint + ${PER_EXECUTION},
      timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second' + interval '1 minute', ${PER_EXECUTION}, ${PER_EXECUTION}, 300000000000000001 + n * 4194304::bigint
    from generate_series(${from} + 1, ${to}) n`)
  await sql.unsafe(`
    insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, context, result, meta, stream_version, created_at)
    select 300000000000000000 + n * 4194304::bigint, 300000000000000000 + n * 4194304::bigint + v, 1,
      case v when 1 then 'playbook_started' when ${PER_EXECUTION} then 'playbook.completed' else 'step.enter' end, 'n', 'step_' || v % 20, 'RUNNING',
      case v when 1 then '{"path": "bench/path", "workload": {"a": 1}}'::jsonb end, '{"status": "RUNNING", "context": {"message": "an ordinary line"}}', '{"actionable": true}', v, timestamp '2026-01-01' + n * interval '1 second'
    from generate_series(${from} + 1, ${to}) n, generate_series(1, ${PER_EXECUTION}) v`)
  await sql.unsafe('vacuum analyze noetl.execution')
  await sql.unsafe('vacuum analyze noetl.event')
}

async function measure(client, executions) {
  const idOf = (n) => String(300_000_000_000_000_000n + BigInt(n) * 4_194_304n)
  const jobs = {
    'first page': () => client.get('/api/executions?limit=50'),
    'page by status': () => client.get('/api/executions?limit=50&status=FAILED'),
    'page by path': () => client.get('/api/executions?limit=50&path=bench/path7'),
    'page by time': () => client.get('/api/executions?limit=50&until=2026-01-01T00:01:00Z'),
    'one execution': (n) => client.get(`/api/executions/${idOf(1 + ((n * 7919) % executions))}`),
    'its status': (n) => client.get(`/api/executions/${idOf(1 + ((n * 7919) % executions))}/status`),
  }
  const times = {}
  for (const [name, job] of Object.entries(jobs)) {
    const took = []
    for (let n = 0; n < REQUESTS; n++) {
      const started = performance.now()
      await job(n)
      // The first few warm caches and plans.
      if (n >= 10) took.push(performance.now() - started)
    }
    times[name] = median(took)
  }
  return times
}
