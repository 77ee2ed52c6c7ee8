// The bare script the relay is measured against: one reader with a cursor, no leases, no retries, no order
// beyond that of the ids, raw pipelined publishes with message ids, one settling UPDATE per batch. Nothing of
// ours is in it. Prints {rows, ms}.
import { connect } from 'nats'
import postgres from 'postgres'

const { url, natsUrl, token, rows } = JSON.parse(process.argv[2])
const BATCH = 500
const sql = postgres(url, { max: 3, onnotice: () => undefined, fetch_types: false })
const nc = await connect({ servers: natsUrl, token, noAsyncTraces: true })

const inbox = `_INBOX.bare${process.pid}.`
let acked = () => undefined
nc.subscribe(`${inbox}*`, {
  callback: (_, message) => {
    const body = JSON.parse(Buffer.from(message.data).toString())
    if (body.error !== undefined) throw new Error(body.error.description)
    acked()
  },
})
await nc.flush()
await sql`select 1`

const read = (after) =>
  sql.unsafe(
    `select outbox_id, execution_id, event_id, subject, payload::text as payload from noetl.outbox
     where status in ('PENDING', 'FAILED', 'IN_FLIGHT') and outbox_id > $1 order by outbox_id limit ${BATCH}`,
    [after],
    { prepare: true },
  )
const settle = (ids) =>
  sql.unsafe(
    `update noetl.outbox set status = 'PUBLISHED', published_at = now(), updated_at = now() where outbox_id = any($1::bigint[])`,
    [`{${ids.join(',')}}`],
    { prepare: true },
  )
const publish = (batch) =>
  new Promise((resolve) => {
    let left = batch.length
    acked = () => {
      left -= 1
      if (left === 0) resolve()
    }
    for (const [index, row] of batch.entries()) {
      const head = Buffer.from(`NATS/1.0\r\nNats-Msg-Id: ${row.execution_id}:${row.event_id}\r\n\r\n`)
      nc.publish(row.subject, row.payload, { reply: inbox + index, headers: { encode: () => head } })
    }
  })

const started = performance.now()
let done = 0
let settling = Promise.resolve()
let next = read('0')
for (;;) {
  const batch = await next
  if (batch.length === 0) break
  next = read(batch[batch.length - 1].outbox_id)
  await publish(batch)
  await settling
  settling = settle(batch.map((row) => row.outbox_id))
  done += batch.length
}
await settling
const ms = performance.now() - started
if (done !== rows) throw new Error(`${done} rows instead of ${rows}`)
console.log(JSON.stringify({ rows: done, ms }))
await nc.close()
await sql.end()
