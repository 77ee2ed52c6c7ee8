// What a subscription is measured against. `consume`: fetch and acknowledge every message, nothing else. `insert`:
// write the rows that a start needs, in transactions of the same size, nothing else: no keys are looked up, no
// execution is locked, nothing is checked. Same client, same driver. Prints {rows, ms}.
import { AckPolicy, connect } from 'nats'
import postgres from 'postgres'

const { what, url, natsUrl, token, rows, stream, body } = JSON.parse(process.argv[2])
const BATCH = 250

async function consume() {
  const nc = await connect({ servers: natsUrl, token, noAsyncTraces: true })
  const jsm = await nc.jetstreamManager()
  await jsm.consumers.add(stream, { durable_name: 'bare', ack_policy: AckPolicy.Explicit, max_ack_pending: 1_000 })
  const consumer = await nc.jetstream().consumers.get(stream, 'bare')
  let done = 0
  const started = performance.now()
  while (done < rows) {
    const batch = await consumer.fetch({ max_messages: Math.min(BATCH, rows - done), expires: 5_000 })
    for await (const message of batch) {
      message.ack()
      done += 1
    }
  }
  await nc.flush()
  const ms = performance.now() - started
  await nc.close()
  return ms
}

async function insert() {
  const sql = postgres(url, { max: 2, onnotice: () => undefined, fetch_types: false })
  await sql`select 1`
  const statements = [
    `insert into noetl.execution (execution_id, catalog_id, path, parent_execution_id, status, stream_version, event_count, start_time)
     select id, 1, 'bench/handler', 1, 'RUNNING', 1, 1, now() from unnest($1::bigint[]) as id`,
    `insert into noetl.event (execution_id, event_id, catalog_id, parent_execution_id, event_type, node_id, node_name, node_type, status, context, result, meta, stream_version)
     select id, id + 1, 1, 1, 'playbook_started', 'playbook', 'bench/handler', 'playbook', 'STARTED', $2::text::jsonb, '{"status": "STARTED"}', '{"emitter": "control_plane"}', 1 from unnest($1::bigint[]) as id`,
    `insert into noetl.outbox (execution_id, event_id, subject, payload)
     select id, id + 1, 'noetl.events.default.default.' || id || '.0', $2::text::jsonb from unnest($1::bigint[]) as id`,
    `insert into noetl.subscription_dedup (subscription_id, dedup_key, execution_id, expires_at)
     select 1, 'nats:BARE:' || id, id, now() + interval '1 day' from unnest($1::bigint[]) as id`,
  ]
  const context = JSON.stringify({ catalog_id: '1', path: 'bench/handler', version: 1, workload: JSON.parse(body) })
  // Ids of this month, as the product's are: the same partition of the event table.
  let id = BigInt(Date.now() - 1_704_067_200_000) << 22n
  let done = 0
  const worker = async () => {
    while (done < rows) {
      done += BATCH
      const ids = `{${Array.from({ length: BATCH }, () => (id += 4n)).join(',')}}`
      await sql.begin((tx) =>
        Promise.all(
          statements.map((text) => tx.unsafe(text, text.includes('$2') ? [ids, context] : [ids], { prepare: true })),
        ),
      )
    }
  }
  const started = performance.now()
  await Promise.all([worker(), worker()])
  const ms = performance.now() - started
  await sql.end()
  return ms
}

console.log(JSON.stringify({ rows, ms: await (what === 'consume' ? consume() : insert()) }))
