// The engine with its state service in a process of its own: chains whose steps a model worker answers as soon as they are issued.

import { ENGINE_DEFAULTS, ENGINE_VERSION } from '../../dist/domain/engine/settings.js'
import { wireTimeFromMillis } from '../../dist/domain/events/wireTime.js'
import { median } from './context.mjs'
import { openStateService } from './stateService.mjs'

const { url } = JSON.parse(process.argv[2])
const CHAIN_STEPS = 20
const CHAIN_ROUNDS = 15
const COMMITS = 200

const state = await openStateService(url, { drive: true, engine: ENGINE_DEFAULTS })
while (state.service.stats().lanes[0] < 64) await new Promise((resolve) => setTimeout(resolve, 20))
const { db } = state.databases.cluster

const issues = new Map()
const ends = new Map()
state.appender.onAppended((_shard, _ids, _traces, ended, news) => {
  for (const [id, { rows }] of news)
    if (rows.some(({ event }) => event.eventType === 'command.issued')) issues.get(id)?.()
  for (const id of ended) ends.get(id)?.()
})
/** When a command of the execution was issued, or it has ended. */
const told = (map, id) =>
  new Promise((resolve) => {
    map.set(id, () => {
      map.delete(id)
      resolve(performance.now())
    })
  })

const item = (executionId, eventType, rest) => ({
  event: {
    executionId,
    eventId: state.ids.next(),
    eventType,
    tenantId: 'default',
    organizationId: 'default',
    createdAt: wireTimeFromMillis(Date.now()),
    createdAtGiven: false,
    ...rest,
  },
  idGiven: false,
  publish: true,
  createExecution: eventType === 'playbook_started',
})

async function register(catalogId, steps) {
  const lines = Array.from({ length: steps }, (_, n) => {
    const next = n + 1 < steps ? `, next: [s${n + 1}]` : ''
    return `  - {step: s${n}, tool: {kind: python, code: x}${next}}`
  })
  const text = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: b, path: bench/engine${catalogId}}\nworkflow:\n${lines.join('\n')}\n`
  await db.run(
    { name: 'bench_kind', text: `insert into noetl.resource (name) values ('Playbook') on conflict do nothing` },
    [],
  )
  await db.run(
    {
      name: 'bench_catalog',
      text: `insert into noetl.catalog (catalog_id, path, kind, version, content, created_at) values ($1::bigint, $2::text, 'Playbook', 1, $3::text, now())`,
    },
    [catalogId, `bench/engine${catalogId}`, text],
  )
}

async function start(catalogId) {
  const executionId = state.ids.next()
  const context = { catalog_id: catalogId, execution_id: executionId, path: 'bench', version: 1, workload: {} }
  const meta = { emitter: 'control_plane', engine: ENGINE_VERSION }
  const about = { nodeName: 'bench', nodeType: 'playbook', status: 'STARTED', result: { status: 'STARTED' } }
  return {
    executionId,
    begin: () => state.appender.append([item(executionId, 'playbook_started', { ...about, catalogId, context, meta })]),
  }
}

function answer(executionId, step) {
  const id = `${executionId}:${step}:1`
  const about = { nodeName: step, nodeType: 'python', meta: { command_id: id, attempt: 1 }, workerId: 'model' }
  const envelope = { status: 'success', data: { n: 1 }, duration_ms: 0 }
  const done = { command_id: id, call_index: 0, result: { status: 'success', context: envelope } }
  return state.appender.append([
    item(executionId, 'call.done', { ...about, status: 'COMPLETED', result: { status: 'COMPLETED', context: done } }),
    item(executionId, 'command.completed', {
      ...about,
      status: 'success',
      result: { status: 'success', context: { command_id: id, status: 'success' } },
    }),
  ])
}

/** How long each answer takes until what follows from it is stored, and how much later than the answer that is. */
async function chains() {
  await register('1002', CHAIN_STEPS)
  const ids = []
  const turns = []
  for (let round = 0; round < CHAIN_ROUNDS; round++) {
    const { executionId, begin } = await start('1002')
    ids.push(executionId)
    let issued = told(issues, executionId)
    await begin()
    for (let n = 0; n < CHAIN_STEPS; n++) {
      await issued
      issued = told(n + 1 < CHAIN_STEPS ? issues : ends, executionId)
      const began = performance.now()
      await answer(executionId, `s${n}`)
      turns.push((await issued) - began)
    }
  }
  const delays = await db.run(
    {
      name: 'bench_delays',
      text: `select (extract(epoch from next.ingest_time - e.ingest_time) * 1000)::float8 as ms, next.event_type = 'playbook.completed' as is_end
        from noetl.event e
        cross join lateral (
          select ingest_time, event_type from noetl.event n
          where n.execution_id = e.execution_id and n.stream_version > e.stream_version
            and n.event_type in ('command.issued', 'playbook.completed')
          order by n.stream_version limit 1
        ) next
        where e.execution_id = any($1::bigint[]) and e.event_type = 'command.completed'`,
    },
    [ids],
  )
  const of = (isEnd) => median(delays.filter((row) => row.is_end === isEnd).map(({ ms }) => ms))
  return { tailMs: of(true), hopMs: of(false), turnMs: median(turns) }
}

/** One row, one session, one commit. */
async function commits() {
  const times = []
  await db.run({ name: 'bench_table', text: 'create table if not exists noetl.bench_commit (n int)' }, [])
  for (let n = 0; n < COMMITS; n++) {
    const began = performance.now()
    await db.run({ name: 'bench_commit', text: 'insert into noetl.bench_commit values ($1::int)' }, [n])
    times.push(performance.now() - began)
  }
  return median(times)
}

try {
  const commitBefore = await commits()
  const { tailMs, hopMs, turnMs } = await chains()
  const commitMs = median([commitBefore, await commits()])
  if (state.counts.errors.length > 0) throw new Error(state.counts.errors[0])
  console.log(JSON.stringify({ commitMs, tailMs, hopMs, turnMs }))
} finally {
  await state.close()
}
