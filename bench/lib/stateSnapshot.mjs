// A snapshot of one large state: what the main loop notices while a thread writes it, and what the writing costs
// beside JSON.stringify and SHA-256 of the same value.
import { createHash } from 'node:crypto'
import postgres from 'postgres'
import { applyNumbered, emptyLiveState } from '../../dist/domain/state/liveState.js'
import { serialiseState } from '../../dist/domain/state/serialiseState.js'
import { packState } from '../../dist/services/state/inThread/snapshotBytes.js'
import { readTail } from '../../dist/stores/state/stateStore.js'
import { median } from './context.mjs'
import { openStateService } from './stateService.mjs'

const { url, bytes, repetitive } = JSON.parse(process.argv[2])
const id = '350000000000000000'
const COMMANDS = 2_000
const sql = postgres(url, { max: 1 })
await sql`insert into noetl.execution (execution_id, catalog_id, status, start_time, stream_version, event_count)
  values (${id}, 1, 'RUNNING', now(), ${COMMANDS}, ${COMMANDS})`
// Results as tools give them: rows of numbers and words. Words that come again and again make a state that is stored
// compressed, others one that is not.
const name = repetitive ? sql`'customer number ' || lpad((m % 40)::text, 16, '0')` : sql`md5((n * 1000 + m)::text)`
await sql`insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, result, meta, stream_version)
  select ${id}::bigint, ${id}::bigint + n, 1, 'call.done', 'loop', 'COMPLETED',
    jsonb_build_object('status', 'COMPLETED', 'context', jsonb_build_object('rows', (
      select jsonb_agg(jsonb_build_object('id', n * 1000 + m, 'name', ${name}, 'score', (n * m) % 997))
      from generate_series(1, ${Math.round(bytes / COMMANDS / 72)}::int) as m
    ))),
    jsonb_build_object('command_id', 'c' || n), n
  from generate_series(1, ${COMMANDS}::int) as n`
await sql.end()

const state = await openStateService(url, { snapshotEvents: 1_000_000 })
await state.service.ask(id, {})
// The same code in this process, beside the bare alternative.
const live = emptyLiveState(id)
const { db } = state.databases.shards[0]
while (live.version < COMMANDS) {
  for (const { event, version } of (await readTail(db, id, live.version, 500)).events)
    applyNumbered(live, event, version)
}
const value = JSON.parse(serialiseState(live.state))
const pack = []
const bare = []
let packed = 0
let codec = ''
for (let round = 0; round < 7; round++) {
  let started = performance.now()
  const snapshot = await packState(live, { executionId: id, tenantId: 'default', organizationId: 'default' })
  pack.push(performance.now() - started)
  packed = snapshot.bytes.length
  codec = snapshot.codec
  started = performance.now()
  createHash('sha256')
    .update(Buffer.from(JSON.stringify(value)))
    .digest('hex')
  bare.push(performance.now() - started)
}

// Only what the loop itself is busy with counts: on a busy machine it also waits for its turn.
const main = []
const wall = []
for (let round = 0; round < 5; round++) {
  await state.threads.ask(0, 'drop', { executionIds: [id] })
  const before = performance.eventLoopUtilization()
  const started = performance.now()
  await state.threads.ask(0, 'rebuild', { shard: 0, executionId: id })
  wall.push(performance.now() - started)
  main.push(performance.eventLoopUtilization(before).active)
}
await state.close()
console.log(
  JSON.stringify({
    bytes: serialiseState(live.state).length,
    packed,
    isCompressed: codec.endsWith('gzip'),
    packMs: median(pack),
    bareMs: median(bare),
    mainMs: median(main),
    wallMs: median(wall),
  }),
)
