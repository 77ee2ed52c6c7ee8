// Promise: workers and daemons are killed at random moments while playbooks with forks, joins, loops and steps that come again
// run, and every execution ends as it does undisturbed: the same result, no command twice, one end, nothing left open, and
// the log replays to the same state.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { scaled } from '../support/scale.js'
import { until } from '../support/until.js'
import { post } from './foreignWorker.js'

const EXECUTIONS = scaled(3, 200)
const KILLS = scaled(2, 60)
const POOL = 'mortal'
const SEED = 20_261_117

const WORKFLOW = `workflow:
- {step: start, tool: {kind: python, code: x}, next: [left, right]}
- step: left
  loop: {in: "{{ range(6) }}", iterator: n, spec: {mode: parallel, max_in_flight: 3}}
  tool: {kind: python, code: x, input: {n: "{{ n }}"}}
  next: [both]
- {step: right, tool: {kind: python, code: x}, next: [both]}
- {step: both, tool: {kind: python, code: x}, next: [page]}
- step: page
  tool: {kind: python, code: x}
  set: {ctx.pages: "{{ (ctx.pages | default(0) | int) + 1 }}"}
  next: {spec: {mode: exclusive}, arcs: [{step: page, when: "{{ ctx.pages < 3 }}"}, {step: end}]}
- {step: end, tool: {kind: python, code: x, input: {n: "{{ ctx.pages }}"}}}
`
const COMMANDS = 1 + 6 + 1 + 1 + 3 + 1

const SCRIPT = fileURLToPath(new URL('./mortalWorker.mjs', import.meta.url))
const database = useDatabase()
let folder: string
let addresses: string
const daemons: (Daemon | undefined)[] = []
const workers: { name: string; process: ChildProcess }[] = []
let serial = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-mortal-'))
  addresses = join(folder, 'addresses')
  await Promise.all([launchDaemon(0), launchDaemon(1)])
  for (const place of [0, 1, 2]) launchWorker(place)
})
afterAll(async () => {
  for (const worker of workers) worker.process.kill('SIGKILL')
  await Promise.all(daemons.map((daemon) => daemon?.stop()))
  await rm(folder, { recursive: true, force: true })
})

async function launchDaemon(place: number): Promise<void> {
  const env = { NOETL_DATABASE_URL: database.get().url, NOETL_CP_STATE_LEASE: '3', HOSTNAME: `mortal-${place}` }
  daemons[place] = await startDaemon([], { env })
  await writeFile(addresses, daemons.flatMap((daemon) => daemon?.url ?? []).join('\n'))
}

function launchWorker(place: number): void {
  const name = `mortal-${++serial}`
  workers[place] = { name, process: spawn(process.execPath, [SCRIPT, addresses, POOL, name], { stdio: 'ignore' }) }
}

/** The same numbers whenever the test runs. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/**
 * A worker that holds a command at this moment, of which another attempt remains: a command that was lost three times fails,
 * rightly. Any of them when there is nothing left to hold.
 */
function holdingPlace(random: () => number): Promise<number> {
  return until(
    'a worker holds a command',
    async () => {
      const held = await database.get().sql<{ holder: string; last: boolean }>(
        `select worker_id as holder, bool_or(attempt >= max_attempts) as last from noetl.command
           where status in ('CLAIMED', 'RUNNING') and lease_until > now() group by worker_id`,
      )
      const holders = new Set(held.filter(({ last }) => !last).map(({ holder }) => holder))
      const places = workers.flatMap(({ name }, place) => (holders.has(name) ? [place] : []))
      const anyone = [...workers.keys()]
      const choice = places.length > 0 ? places : (await ended()) === EXECUTIONS ? anyone : []
      return choice[Math.floor(random() * choice.length)]
    },
    { timeoutMs: 120_000, everyMs: 5 },
  )
}

/** In turn a worker in the middle of its work, and one of those or a daemon. */
async function killOne(kill: number, random: () => number): Promise<void> {
  const chance = Math.floor(random() * (workers.length + daemons.length))
  const place = kill % 2 === 1 || chance < workers.length ? await holdingPlace(random) : chance
  if (place < workers.length) {
    workers[place]!.process.kill('SIGKILL')
    launchWorker(place)
    return
  }
  const daemon = daemons[place - workers.length]
  daemon?.signal('SIGKILL')
  await daemon?.finished
  await launchDaemon(place - workers.length)
}

async function ended(): Promise<number> {
  const [row] = await database
    .get()
    .sql<{ ended: number }>(`select count(*)::int as ended from noetl.execution where end_time is not null`)
  return row!.ended
}

interface Outcome {
  status: string
  commands: number
  keys: number
  open: number
  ends: number
  data: unknown
}

async function outcomeOf(id: string): Promise<Outcome> {
  const [row] = await database.get().sql<Outcome>(
    `select e.status,
       (select count(*)::int from noetl.command c where c.execution_id = e.execution_id) as commands,
       (select count(distinct command_key)::int from noetl.command c where c.execution_id = e.execution_id) as keys,
       (select count(*)::int from noetl.command c where c.execution_id = e.execution_id and c.status not in ('COMPLETED', 'FAILED', 'CANCELLED')) as open,
       (select count(*)::int from noetl.event v where v.execution_id = e.execution_id and v.event_type ~ '^playbook.(completed|failed|cancelled)') as ends,
       (select v.result #> '{context,data}' from noetl.event v where v.execution_id = e.execution_id and v.event_type = 'playbook.completed') as data
     from noetl.execution e where e.execution_id = $1::bigint`,
    [id],
  )
  return row!
}

/** For whoever reads the failure. */
async function whatIsOpen(): Promise<string> {
  const rows = await database.get().sql(
    `select c.command_key, c.status, c.attempt, c.worker_id, c.lease_until::text, now()::text as now
     from noetl.command c where c.status not in ('COMPLETED', 'FAILED', 'CANCELLED') limit 10`,
  )
  return `open commands: ${JSON.stringify(rows)}`
}

it(`${EXECUTIONS} executions, ${KILLS} kills`, { timeout: scaled(600_000, 3_600_000) }, async () => {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/mortal}\n${WORKFLOW}`
  await post(daemons[0]!.url, '/api/catalog/register', { content })
  const executions = Array.from({ length: EXECUTIONS }, () => ({ path: 'test/mortal', execution_pool: POOL }))
  const started = await post(daemons[0]!.url, '/api/execute/batch', { executions })
  const ids = [...started.text.matchAll(/"execution_id":"?(\d+)/g)].map(([, id]) => id!)
  expect(ids, started.text).toHaveLength(EXECUTIONS)

  const random = randomFrom(SEED)
  const haveEnded = (count: number, timeoutMs: number) =>
    until(
      `${count} executions have ended`,
      async () => {
        if ((await ended()) >= count) return true
        throw new Error(await whatIsOpen())
      },
      { timeoutMs },
    )
  for (let kill = 1; kill <= KILLS; kill++) {
    // Spread over the run: each when a share of the work is done.
    const share = Math.floor((EXECUTIONS * (kill - 1)) / (KILLS * 2))
    await haveEnded(share, 300_000)
    await killOne(kill, random)
  }
  await haveEnded(EXECUTIONS, scaled(300_000, 1_800_000))
  const [again] = await database
    .get()
    .sql<{ commands: number; attempts: number }>(
      `select count(*) filter (where attempt > 1)::int as commands, max(attempt) as attempts from noetl.command`,
    )
  console.log(`${again!.commands} commands were tried again, at most ${again!.attempts} times`)

  for (const id of ids) {
    expect({ id, ...(await outcomeOf(id)) }).toEqual({
      id,
      status: 'COMPLETED',
      commands: COMMANDS,
      keys: COMMANDS,
      open: 0,
      ends: 1,
      data: { from: 'end', n: 3 },
    })
  }
  const verified = await builtCli(['replay', 'verify', '--all'], { env: { NOETL_DATABASE_URL: database.get().url } })
  expect(verified.code, verified.stdout + verified.stderr).toBe(0)
})
