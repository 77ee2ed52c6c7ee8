// The list of executions in a browser: from the address to its rows on the screen, among very many of them.

import { openBrowser, openPage } from './consolePage.mjs'
import { median } from './context.mjs'
import { untilQuiet } from './processorTime.mjs'

const EXECUTIONS = 100_000
const EXECUTIONS_FULL = 1_000_000
const LOADS = 7

/** How many there are, and the median time of a few loads. */
export async function measureList(ctx) {
  const executions = ctx.full ? EXECUTIONS_FULL : EXECUTIONS
  const database = await ctx.database()
  const sql = database.open({ max: 1 })
  await plant(sql, executions)
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url, NOETL_CP_ADOPT_INTERVAL: '3600' })
  await untilQuiet(daemon.pid)
  const browser = await openBrowser()
  try {
    const took = []
    for (let load = 0; load < LOADS; load++) {
      const { page, ms } = await openPage(browser, `${daemon.url}/console/executions`, 'tbody tr')
      took.push(ms)
      await page.close()
    }
    return { executions, ms: median(took) }
  } finally {
    await browser.close()
    await daemon.stop()
  }
}

async function plant(sql, executions) {
  await sql.unsafe(`
    insert into noetl.execution (execution_id, catalog_id, status, path, last_event_type, last_node_name, start_time, end_time, stream_version, event_count)
    select 300000000000000000 + n * 4194304::bigint, 1 + n % 50,
      case when n % 100 = 0 then 'FAILED' when n % 1000 = 3 then 'RUNNING' else 'COMPLETED' end, 'bench/path' || n % 50, 'playbook.completed', 'end',
      timestamptz '2026-01-01' + n * interval '1 second', case when n % 1000 <> 3 then timestamptz '2026-01-01' + n * interval '1 second' + interval '1 minute' end, 10, 10
    from generate_series(1, ${executions}) n`)
  await sql.unsafe('vacuum analyze noetl.execution')
}
