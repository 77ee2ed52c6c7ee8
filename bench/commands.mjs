// Commands: the claim of the oldest one beside a million that have ended and ten thousand that wait, against one beside nothing;
// and the hop of a worker behind NATS and HTTP, from the end of a step to the start of the next, against a bare commit.
import { connect } from 'nats'
import { bareCommit } from './lib/bareCommit.mjs'
import { median, percentile } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'

const ROUNDS = 40
const WARM_UP = 10
const ENDED = 1_000_000
const WAITING = 10_000
const STEPS = 100
// A daemon that has run for a while is meant, as with the built-in worker.
const STEPS_BEFORE = 1_000

export default {
  name: 'commands',
  run: async (ctx) => {
    // First: a million rows that were just written are vacuumed and written back for minutes.
    const hop = await foreignHop(ctx)
    const claims = await claimsBesideOthers(ctx)
    const bound = 12 * hop.commit + 5
    return [
      {
        name: `claim beside ${ENDED.toLocaleString('en')} ended and ${WAITING.toLocaleString('en')} waiting commands`,
        value: claims.many,
        unit: 'ms',
        ratio: claims.many / claims.none,
        target: '<= 1.2',
        note: `${claims.none.toFixed(2)} ms beside none`,
      },
      {
        name: 'hop of a foreign worker (NATS and HTTP), p50',
        value: hop.p50,
        unit: 'ms',
        ratio: hop.p50 / bound,
        target: '<= 1',
        note: `bound 12 c + 5 ms = ${bound.toFixed(1)} ms, c = ${hop.commit.toFixed(2)} ms; p99 ${hop.p99.toFixed(1)} ms; after ${STEPS_BEFORE} others`,
      },
    ]
  },
}

async function claimsBesideOthers(ctx) {
  const sides = { none: await claimSide(ctx, false), many: await claimSide(ctx, true) }
  const took = { none: [], many: [] }
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    for (const [name, side] of Object.entries(sides)) {
      const ms = await side.claim(round)
      if (round >= WARM_UP) took[name].push(ms)
    }
  }
  for (const side of Object.values(sides)) await side.close()
  return { none: median(took.none), many: median(took.many) }
}

async function claimSide(ctx, isFull) {
  const database = await ctx.database()
  const sql = database.open({ max: 1 })
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url })
  const client = createClient(daemon.url, 1)
  await register(client, 'bench/claims', ['a'])
  for (let n = 0; n < ROUNDS + WARM_UP; n++) await start(client, 'bench/claims', 'bench')
  const ready = async () => (await sql`select count(*)::int as n from noetl.command`)[0].n
  while ((await ready()) < ROUNDS + WARM_UP) await new Promise((resolve) => setTimeout(resolve, 50))
  if (isFull) {
    const fill = (status, rows, from) =>
      sql.unsafe(`
        insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name, tool_kind, status, command_key, pool, completed_at)
        select ${from} + n, ${from} + n, ${from} + n % 50000, 1, 'a', 'python', '${status}', 'k' || n, 'bench',
          case '${status}' when 'COMPLETED' then now() end
        from generate_series(1, ${rows}) as n`)
    await fill('COMPLETED', ENDED, '1000000')
    await fill('PENDING', WAITING, '9000000000000000000')
    await sql`vacuum analyze noetl.command`
  }
  return {
    claim: async (round) => {
      const body = JSON.stringify({ worker_id: `w${round}`, pools: ['bench'], max: 1 })
      const started = performance.now()
      const answer = await client.post('/api/commands/claim', body)
      const ms = performance.now() - started
      if (!answer.includes('tool_config')) throw new Error('nothing was handed out')
      return ms
    },
    close: async () => {
      client.close()
      await daemon.stop()
    },
  }
}

async function foreignHop(ctx) {
  const database = await ctx.database()
  const { natsUrl, natsToken } = await ctx.servers()
  const daemon = await ctx.daemon({
    NOETL_DATABASE_URL: database.url,
    NOETL_NATS_URL: natsUrl,
    NOETL_NATS_TOKEN: natsToken,
    NOETL_CP_ENGINE_NATIVE_NOOP: 'false',
  })
  const client = createClient(daemon.url, 4)
  const steps = Array.from({ length: STEPS_BEFORE + STEPS }, (_, n) => `s${n}`)
  await register(client, 'bench/hop', steps, 'noop')
  // Before and after: the machine may have become faster or slower meanwhile.
  const sql = database.open({ max: 1 })
  const before = await bareCommit(sql)
  const nats = await connect({ servers: natsUrl, token: natsToken })
  const notices = nats.subscribe('noetl.commands.hop.>')
  await start(client, 'bench/hop', 'hop')
  const hops = []
  let endedAt
  for await (const message of notices) {
    const eventId = /"event_id":(\d+)/.exec(message.string())[1]
    const claimed = await client.post(`/api/commands/${eventId}/claim`, '{"worker_id":"w"}')
    if (endedAt !== undefined) hops.push(performance.now() - endedAt)
    const executionId = /"execution_id":(\d+)/.exec(claimed)[1]
    const commandId = /"command_id":"([^"]+)"/.exec(claimed)[1]
    const step = commandId.split(':')[1]
    const event = (type, status, more) =>
      `{"step":"${step}","event_type":"${type}","status":"${status}","payload":{"command_id":"${commandId}","attempt":1${more}}}`
    const result = ',"call_index":0,"result":{"status":"success","context":{"status":"success","data":{}}}'
    endedAt = performance.now()
    await client.post(
      '/api/events/batch',
      `{"execution_id":${executionId},"worker_id":"w","events":[${event('call.done', 'COMPLETED', result)},${event('command.completed', 'success', ',"status":"success"')}]}`,
    )
    if (hops.length === steps.length - 1) break
  }
  const commit = (before + (await bareCommit(sql))) / 2
  await nats.close()
  client.close()
  await daemon.stop()
  const counted = hops.slice(STEPS_BEFORE)
  return { p50: percentile(counted, 0.5), p99: percentile(counted, 0.99), commit }
}

async function register(client, path, steps, kind = 'python') {
  const lines = steps.map((step, n) => {
    const next = n + 1 < steps.length ? `, next: [${steps[n + 1]}]` : ''
    return `- {step: ${step}, tool: {kind: ${kind}, code: "x"}${next}}`
  })
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: b, path: ${path}}\nworkflow:\n${lines.join('\n')}\n`
  await client.post('/api/catalog/register', JSON.stringify({ content }))
}

async function start(client, path, pool) {
  await client.post('/api/execute', JSON.stringify({ path, execution_pool: pool }))
}
