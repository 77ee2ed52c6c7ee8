// Commands through the built-in worker: the hop of a chain, from the end of a command to the end of the next, against bare commits;
// and a fan-out, ten loops of a thousand commands, against the same daemon appending batches of five events. Times are those at which
// the database took the events.
import { readFileSync } from 'node:fs'
import { bareCommit } from './lib/bareCommit.mjs'
import { percentile } from './lib/context.mjs'
import { createClient, onLanes, startExecutions } from './lib/http.mjs'

const CHAIN_STEPS = 100
// A daemon that has run for a while is meant: after a thousand hops much of it is still being compiled.
const CHAINS_BEFORE = 30
// One in a hundred of one chain would be its slowest.
const CHAINS = 5
const LOOPS = 10
const LOOPS_FULL = 40
const ITEMS = 1_000
const IN_FLIGHT = 200
const BATCHES = 1_500
const CONNECTIONS = 8
const EARLY_COMMANDS = 2_000

export default {
  name: 'worker',
  run: async (ctx) => {
    const database = await ctx.database()
    const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url, NOETL_CP_ENGINE_NATIVE_NOOP: 'false' })
    const client = createClient(daemon.url, CONNECTIONS)
    const sql = database.open({ max: 1 })
    const commit = await bareCommit(sql)
    const hops = await chain(client, sql)
    const batches = await batchRate(client)
    const fan = await fanOut(client, sql, daemon.pid, ctx.full ? LOOPS_FULL : LOOPS)
    client.close()
    await daemon.stop()
    const bound = 6 * commit + 2
    const p50 = percentile(hops, 0.5)
    return [
      {
        name: `hop of the built-in worker, ${CHAINS} chains of ${CHAIN_STEPS}, p50`,
        value: p50,
        unit: 'ms',
        ratio: p50 / bound,
        target: '<= 1',
        note: `bound 6 c + 2 ms = ${bound.toFixed(1)} ms, c = ${commit.toFixed(2)} ms; after ${CHAINS_BEFORE} others`,
      },
      {
        name: 'the same, p99',
        value: percentile(hops, 0.99),
        unit: 'ms',
        ratio: percentile(hops, 0.99) / commit,
        target: '<= 20',
        note: 'ratio to c',
      },
      {
        name: `fan-out of ${fan.commands.toLocaleString('en')} commands`,
        value: fan.rate,
        unit: 'commands/s',
        ratio: fan.rate / batches,
        target: '>= 0.25',
        note: `ratio to ${Math.round(batches)} batches of 5 events per second`,
      },
      {
        name: 'its last tenth against its first',
        value: fan.lastMs,
        unit: 'ms',
        ratio: fan.lastMs / fan.firstMs,
        target: '<= 1.3',
      },
      {
        name: 'memory of the daemon at its end',
        value: fan.endMb,
        unit: 'MB',
        ratio: fan.endMb / fan.earlyMb,
        target: '<= 1.2',
        note: `ratio to ${Math.round(fan.earlyMb)} MB after ${EARLY_COMMANDS.toLocaleString('en')} commands; ${fan.events.toLocaleString('en')} events in all`,
      },
    ]
  },
}

async function chain(client, sql) {
  const steps = Array.from({ length: CHAIN_STEPS }, (_, n) => {
    const next = n + 1 < CHAIN_STEPS ? `, next: [s${n + 1}]` : ''
    return `- {step: s${n}, tool: {kind: noop}${next}}`
  })
  for (let n = 0; n < CHAINS_BEFORE; n++) await finish(sql, await start(client, 'bench/chain', steps))
  const hops = []
  for (let n = 0; n < CHAINS; n++) {
    const id = await start(client, 'bench/chain', steps)
    await finish(sql, id)
    const times = await ends(sql, id)
    hops.push(...times.slice(1).map((time, index) => time - times[index]))
  }
  return hops
}

async function fanOut(client, sql, pid, loops) {
  const steps = Array.from({ length: loops }, (_, n) => {
    const next = n + 1 < loops ? `, next: [l${n + 1}]` : ''
    const loop = `loop: {in: ${ITEMS}, iterator: x, spec: {mode: parallel, max_in_flight: ${IN_FLIGHT}}}`
    return `- {step: l${n}, ${loop}, tool: {kind: noop}${next}}`
  })
  const id = await start(client, 'bench/fan', steps)
  let earlyMb
  await finish(sql, id, async () => {
    if (earlyMb !== undefined) return
    const [{ n }] =
      await sql`select count(*)::int as n from noetl.command where execution_id = ${id} and status = 'COMPLETED'`
    if (n >= EARLY_COMMANDS) earlyMb = residentMb(pid)
  })
  const times = await ends(sql, id)
  const tenth = Math.floor(times.length / 10)
  const [{ n: events }] = await sql`select count(*)::int as n from noetl.event where execution_id = ${id}`
  return {
    commands: times.length,
    events,
    rate: (times.length / (times.at(-1) - times[0])) * 1000,
    firstMs: times[tenth] - times[0],
    lastMs: times.at(-1) - times[times.length - 1 - tenth],
    earlyMb: earlyMb ?? residentMb(pid),
    endMb: residentMb(pid),
  }
}

async function batchRate(client) {
  const executions = await startExecutions(client, 100)
  const event = { step: 'a', event_type: 'step.enter', payload: { n: 1, text: 'short' } }
  const bodies = executions.map((id) => JSON.stringify({ execution_id: id, events: Array(5).fill(event) }))
  const post = (n) => client.post('/api/events/batch', bodies[n % bodies.length])
  await onLanes(CONNECTIONS, BATCHES / 5, post)
  const started = performance.now()
  await onLanes(CONNECTIONS, BATCHES, post)
  return (BATCHES / (performance.now() - started)) * 1000
}

async function start(client, path, steps) {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: b, path: ${path}}\nworkflow:\n${steps.join('\n')}\n`
  await client.post('/api/catalog/register', JSON.stringify({ content }))
  return JSON.parse(await client.post('/api/execute', JSON.stringify({ path }))).execution_id
}

/** Waits for the end and looks at what goes on meanwhile. */
async function finish(sql, id, look = async () => undefined) {
  for (;;) {
    const [{ status }] = await sql`select status from noetl.execution where execution_id = ${id}`
    if (status === 'COMPLETED') return
    if (status === 'FAILED') throw new Error(`execution ${id} failed`)
    await look()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** When each of its commands ended, in milliseconds. */
async function ends(sql, id) {
  const rows = await sql`
    select (extract(epoch from ingest_time) * 1000)::float8 as at from noetl.event
    where execution_id = ${id} and event_type = 'command.completed' order by stream_version`
  return rows.map(({ at }) => at)
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}
