// The product's subscription runtime on its own, as the daemon runs it. Starts when the subscription is active and
// ends when `rows` executions are committed. Prints {rows, ms}.
import postgres from 'postgres'
import { loadConfig } from '../../dist/config/load.js'
import { buildCore } from '../../dist/daemon/core.js'
import { openDeps } from '../../dist/daemon/deps.js'
import { productionEndpoints } from '../../dist/daemon/endpoints.js'
import { silentLog } from '../../dist/runtime/log.js'
import { createSupervisor } from '../../dist/services/subscriptions/supervisor.js'

const { url, natsUrl, token, rows } = JSON.parse(process.argv[2])
const { config } = loadConfig({ NOETL_DATABASE_URL: url, NOETL_NATS_URL: natsUrl, NOETL_NATS_TOKEN: token })
const deps = openDeps({ config, endpoints: productionEndpoints(config), log: silentLog, applicationName: 'bench' })
await deps.bus.start()
const core = buildCore(deps, 'daemon')
await core.ids.start()
const { databases, clock } = deps
let started = 0
let batches = 0
let firstAt
let finish
const finished = new Promise((resolve) => {
  finish = resolve
})
const supervisor = createSupervisor({
  databases,
  clock,
  documents: deps.documents,
  appender: core.appender,
  ids: core.ids,
  own: core.own,
  bus: deps.bus,
  random: Math.random,
  membership: core.membershipOf(databases.cluster.db),
  leaseMs: 10_000,
  attemptsMax: 5,
  onMessages: (outcome, count) => {
    if (outcome !== 'started' || count === 0) return
    // From the first committed batch on: opening the consumer is not what is measured.
    firstAt ??= { at: performance.now(), started: count }
    started += count
    batches += 1
    if (started >= rows) finish()
  },
  onDriven: () => undefined,
  // It would wait for ever for what nobody mends here.
  onTrouble: (_, trouble) => {
    if (trouble === null) return
    console.error(trouble)
    process.exit(1)
  },
  onError: (error) => console.error(String(error)),
})
await supervisor.start()
await finished
const ms = performance.now() - firstAt.at
await supervisor.stop(5_000)
const sql = postgres(url, { max: 1, onnotice: () => undefined })
const [{ n }] = await sql`select count(*)::int as n from noetl.event where event_type = 'playbook_started'`
if (n !== rows) throw new Error(`${n} executions instead of ${rows}`)
await sql.end()
await core.ids.stop(1_000)
await deps.close(2_000)
console.log(JSON.stringify({ rows: rows - firstAt.started, ms, batches }))
