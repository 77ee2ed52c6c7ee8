// pg-boss publishing jobs to JetStream at its best settings found: a few loops that fetch many and complete them at once.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { eventOf } from './job.mjs'
import { createPublish } from './publishing.mjs'

const { url, natsUrl, token, rows, way, loops = 4, batch = 500 } = JSON.parse(process.argv[2])
const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, max: 6 })
boss.on('error', console.error)
await boss.start()
const pool = new pg.Pool({ connectionString: url, max: 1 })
await boss.deleteQueue('publish').catch(() => undefined)
await boss.createQueue('publish')
for (let first = 1; first <= rows; first += 5000) {
  await boss.insert(
    'publish',
    Array.from({ length: Math.min(5000, rows - first + 1) }, (_, index) => ({ data: eventOf(first + index) })),
  )
}
await pool.query('vacuum analyze')
const publisher = await createPublish({ natsUrl, token, way })
const started = performance.now()
let done = 0
await Promise.all(
  Array.from({ length: loops }, async () => {
    for (;;) {
      const jobs = await boss.fetch('publish', { batchSize: batch })
      if (jobs.length === 0) return
      await Promise.all(jobs.map(({ data }) => publisher.publish(data)))
      await boss.complete(
        'publish',
        jobs.map(({ id }) => id),
      )
      done += jobs.length
    }
  }),
)
console.log(JSON.stringify({ rows: done, ms: performance.now() - started }))
await boss.stop({ graceful: false })
await publisher.close()
await pool.end()
process.exit(0)
