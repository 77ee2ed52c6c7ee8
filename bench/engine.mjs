// The engine: native steps per second of one chain, the way from the last answer of a worker to the end of its execution, and
// the hop from one step to the next with a model worker. c is one bare commit in the same run.
import { insertBare } from './lib/bareRows.mjs'
import { PRODUCT_FLAGS, runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'

const STEPS_PER_SECOND = 5_000
const NATIVE_STEPS = 2_000
// The first are those of a daemon that is still being compiled.
const NATIVE_ROUNDS = 8
const NATIVE_ROUNDS_BEFORE = 3
const LOOK_MS = 5

export default {
  name: 'engine',
  run: async (ctx) => {
    const database = await ctx.database()
    const found = await runScript('engineRun.mjs', { url: database.url }, { flags: PRODUCT_FLAGS }).finished
    const { commitMs, tailMs, hopMs, turnMs } = found
    const { nativeStepsPerSecond, bareStepsPerSecond } = await native(ctx)
    const ofCommit = `one bare commit ${commitMs.toFixed(2)} ms`
    return [
      {
        name: `native noop chain of ${NATIVE_STEPS.toLocaleString('en')} steps`,
        value: nativeStepsPerSecond,
        unit: 'steps/s',
        ratio: nativeStepsPerSecond / STEPS_PER_SECOND,
        target: '>= 1',
        note: `five events each, from start to end; ratio to ${STEPS_PER_SECOND.toLocaleString('en')}`,
      },
      {
        name: 'its rows inserted bare, by one session',
        value: bareStepsPerSecond,
        unit: 'steps/s',
        ratio: nativeStepsPerSecond / bareStepsPerSecond,
        target: '>= 0.6',
        note: 'ratio of the chain to it: what the database alone takes for events and outbox rows',
      },
      {
        name: 'last answer to the end of the execution, p50',
        value: tailMs,
        unit: 'ms',
        ratio: tailMs / commitMs,
        target: '<= 4',
        note: ofCommit,
      },
      {
        name: 'hop with a model worker, p50',
        value: hopMs,
        unit: 'ms',
        ratio: hopMs / commitMs,
        note: `answer stored to next command stored; ${ofCommit}`,
      },
      {
        name: 'turn of a model worker, p50',
        value: turnMs,
        unit: 'ms',
        ratio: turnMs / commitMs,
        note: `answer handed in to next command stored; ${ofCommit}`,
      },
    ]
  },
}

/** Through a daemon, from the request to the end; and its rows once more, bare. */
async function native(ctx) {
  const database = await ctx.database()
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: database.url })
  const client = createClient(daemon.url, 1)
  const sql = database.open({ max: 1 })
  const content = chainOf(NATIVE_STEPS)
  await client.post('/api/catalog/register', JSON.stringify({ content }))
  const rates = []
  const bare = []
  for (let round = 0; round < NATIVE_ROUNDS; round++) {
    const began = performance.now()
    const { execution_id: id } = JSON.parse(await client.post('/api/execute', JSON.stringify({ path: 'bench/native' })))
    while (!(await hasEnded(sql, id))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    rates.push(NATIVE_STEPS / ((performance.now() - began) / 1000))
    // Of an id that nobody has.
    bare.push(NATIVE_STEPS / ((await insertBare(sql, id, String(BigInt(id) + 1n))) / 1000))
  }
  client.close()
  await daemon.stop()
  return {
    nativeStepsPerSecond: median(rates.slice(NATIVE_ROUNDS_BEFORE)),
    bareStepsPerSecond: median(bare.slice(NATIVE_ROUNDS_BEFORE)),
  }
}

function chainOf(steps) {
  const lines = Array.from({ length: steps }, (_, n) => {
    const next = n + 1 < steps ? `, next: [s${n + 1}]` : ''
    return `  - {step: s${n}, tool: {kind: noop}${next}}`
  })
  return `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: b, path: bench/native}\nworkflow:\n${lines.join('\n')}\n`
}

async function hasEnded(sql, id) {
  const [{ status }] = await sql`select status from noetl.execution where execution_id = ${id}`
  if (status === 'FAILED') throw new Error(`execution ${id} failed`)
  return status === 'COMPLETED'
}
