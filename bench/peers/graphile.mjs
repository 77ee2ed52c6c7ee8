// graphile-worker publishing jobs to JetStream at its best settings found: local queue, batched completion.
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { eventOf } from './job.mjs'
import { createPublish } from './publishing.mjs'

const { url, natsUrl, token, rows, way, jobs = 1000, size = 2000 } = JSON.parse(process.argv[2])
const pool = new pg.Pool({ connectionString: url, max: 6 })
pool.on('error', console.error)
pool.on('connect', (client) => client.on('error', console.error))
const utils = await makeWorkerUtils({ pgPool: pool })
await utils.migrate()
await pool.query('truncate graphile_worker._private_jobs cascade')
for (let first = 1; first <= rows; first += 5000) {
  const events = Array.from({ length: Math.min(5000, rows - first + 1) }, (_, index) => eventOf(first + index))
  await utils.addJobs(events.map((payload) => ({ identifier: 'publish', payload })))
}
await pool.query('vacuum analyze graphile_worker._private_jobs')
const publisher = await createPublish({ natsUrl, token, way })
// A job that fails is tried again for ever: that is no measurement, and must not look like a slow one.
const logger = new Logger(() => (level, message) => {
  if (level !== 'error') return
  console.error(message)
  process.exit(1)
})
let done = 0
let finish
const finished = new Promise((resolve) => {
  finish = resolve
})
const started = performance.now()
const runner = await run({
  pgPool: pool,
  noHandleSignals: true,
  logger,
  preset: {
    worker: {
      concurrentJobs: jobs,
      pollInterval: 100,
      localQueue: { size },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    publish: async (payload) => {
      await publisher.publish(payload)
      done += 1
      if (done === rows) finish()
    },
  },
})
await finished
for (;;) {
  const {
    rows: [left],
  } = await pool.query('select count(*)::int as n from graphile_worker._private_jobs')
  if (left.n === 0) break
}
console.log(JSON.stringify({ rows, ms: performance.now() - started }))
await runner.stop()
await publisher.close()
await pool.end()
process.exit(0)
