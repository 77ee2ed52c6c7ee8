// What others pay for the console: ingest beside somebody who scrubs, and the index that the console's search by worker goes by.
// Rounds with and without follow each other in turn, so that both have the same machine.
import http from 'node:http'
import { median } from './context.mjs'
import { batchBody, createClient, onLanes, startExecutions } from './http.mjs'
import { processorMs, serverProcesses } from './processorTime.mjs'

const LANES = 4
const BATCH = 500
const BATCHES = 8
const ROUNDS = 60
// A daemon whose code is still being compiled differs by more from one round to the next than what is looked for.
const WARM_UP = 20
/** As often as a page asks while its handle is dragged. */
const ASK_EVERY_MS = 50
const SWEEP_STEPS = 100

/** Ingest of one daemon while a page of it drags through a log, as a multiple of the time without. */
export async function ingestBesideScrubbing(url, id, events) {
  const client = createClient(url, LANES)
  const executions = await startExecutions(client, LANES * (WARM_UP + 2 * ROUNDS))
  const round = async (number) => {
    const mine = executions.slice(number * LANES, (number + 1) * LANES)
    const bodies = Array.from({ length: BATCHES }, (_, n) => batchBody(mine[n % LANES], n, BATCH))
    const started = performance.now()
    await onLanes(LANES, BATCHES, (n) => client.post('/api/events/batch', bodies[n]))
    return performance.now() - started
  }
  const page = scrubbingPage(url, id, events)
  await page.open()
  for (let number = 0; number < WARM_UP; number++) await round(number)
  const alone = []
  const watchedMs = []
  for (let pair = 0; pair < ROUNDS; pair++) {
    const at = WARM_UP + 2 * pair
    // Which comes first changes, or what grows with the table would always count against the same.
    const isWatchedFirst = pair % 2 === 0
    const [first, second] = [await watched(isWatchedFirst, at), await watched(!isWatchedFirst, at + 1)]
    const [without, beside] = isWatchedFirst ? [second, first] : [first, second]
    alone.push(without)
    watchedMs.push(beside)
  }
  async function watched(isWatched, number) {
    if (isWatched) page.drag()
    const ms = await round(number)
    await page.rest()
    return ms
  }
  const jumps = page.close()
  client.close()
  return { ratio: median(watchedMs) / median(alone), perSecond: (BATCH * BATCHES * 1000) / median(alone), jumps }
}

/** Asks what a page asks: its doorbells, and while it is dragged the state at the handle. */
function scrubbingPage(url, id, events) {
  const client = createClient(url, 2)
  const jumps = []
  let bells
  let dragging = Promise.resolve()
  let isDragging = false
  let step = 0
  const at = (position) => client.get(`/api/executions/${id}/at?position=${position}`)
  return {
    open: async () => {
      const { port, hostname } = new URL(url)
      const path = `/api/stream?topics=execution:${id},executions`
      bells = http.get({ hostname, port, path }, (response) => response.resume())
      bells.on('error', () => undefined)
      await at(events)
    },
    drag: () => {
      isDragging = true
      dragging = (async () => {
        while (isDragging) {
          const started = performance.now()
          const position = 1 + ((step++ % SWEEP_STEPS) * events) / SWEEP_STEPS + (step % 7)
          await at(Math.min(events, Math.floor(position)))
          jumps.push(performance.now() - started)
          const left = ASK_EVERY_MS - (performance.now() - started)
          if (left > 0) await new Promise((resolve) => setTimeout(resolve, left))
        }
      })()
    },
    rest: async () => {
      isDragging = false
      await dragging
    },
    close: () => {
      bells.destroy()
      client.close()
      return jumps
    },
  }
}

const LOOP_ITEMS = 400
const LOOP_WARM_UP = 3
const LOOP_ROUNDS = 5
const INDEX_COMMANDS = 5_000
const INDEX_ROUNDS = 9
const INDEX = 'create index command_worker_idx on noetl.command (worker_id, execution_id) where worker_id is not null'

/**
 * Processor time of a command from its issue to its end, and how much of it is the index that a search by worker goes by: what
 * Postgres spends on the same rows with and without, which is too little to be seen in the whole.
 */
export async function costOfWorkerIndex(daemon, sql) {
  const [{ pid }] = await sql`select pg_backend_pid() as pid`
  const [withIndex, without] = [[], []]
  for (let round = 0; round <= INDEX_ROUNDS; round++) {
    const writesWith = await writeCommands(sql, pid, 2 * round)
    await sql`drop index noetl.command_worker_idx`
    const writesWithout = await writeCommands(sql, pid, 2 * round + 1)
    await sql.unsafe(INDEX)
    // The first one warms up.
    if (round > 0) {
      withIndex.push(writesWith)
      without.push(writesWithout)
    }
  }
  const extraMs = (median(withIndex) - median(without)) / INDEX_COMMANDS
  const wholeMs = await commandMs(daemon, sql, pid)
  return { extraMs, wholeMs, ratio: wholeMs / (wholeMs - extraMs) }
}

/** What becomes of a command: it is issued, claimed, started and completed. */
async function writeCommands(sql, pid, round) {
  const execution = 7_000_000 + round
  const before = processorMs([pid])
  await sql.unsafe(
    `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name, tool_kind, status, command_key, pool)
     select n, ${execution * INDEX_COMMANDS} + n, ${execution}, 1, 'a', 'python', 'PENDING', 'k' || n, 'index'
     from generate_series(1, ${INDEX_COMMANDS}) as n`,
  )
  for (const change of [
    `status = 'CLAIMED', worker_id = 'w' || command_id % 8, claimed_at = now(), lease_until = now() + interval '1 minute'`,
    `status = 'RUNNING', started_at = now(), lease_until = now() + interval '1 minute'`,
    `status = 'COMPLETED', completed_at = now(), lease_until = null`,
  ]) {
    await sql.unsafe(`update noetl.command set ${change}, updated_at = now() where execution_id = ${execution}`)
  }
  return processorMs([pid]) - before
}

/** Of daemon and Postgres, for a command of a loop through the built-in worker. */
async function commandMs(daemon, sql, pid) {
  const client = createClient(daemon.url, 1)
  const loop = `loop: {in: ${LOOP_ITEMS}, iterator: x, spec: {mode: parallel, max_in_flight: 100}}`
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: b, path: bench/loop}\nworkflow:\n- {step: a, ${loop}, tool: {kind: noop}}\n`
  await client.post('/api/catalog/register', JSON.stringify({ content }))
  const spent = () => processorMs([daemon.pid, ...serverProcesses(pid)])
  const took = []
  for (let round = 0; round < LOOP_WARM_UP + LOOP_ROUNDS; round++) {
    const before = spent()
    const { execution_id: id } = JSON.parse(await client.post('/api/execute', '{"path":"bench/loop"}'))
    await ended(sql, id)
    if (round >= LOOP_WARM_UP) took.push((spent() - before) / LOOP_ITEMS)
  }
  client.close()
  return median(took)
}

async function ended(sql, id) {
  for (;;) {
    const [{ status }] = await sql`select status from noetl.execution where execution_id = ${id}`
    if (status === 'COMPLETED') return
    if (status === 'FAILED') throw new Error(`execution ${id} failed`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
