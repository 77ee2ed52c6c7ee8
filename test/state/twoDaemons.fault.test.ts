// Promise: two daemons on one database never both drive an execution. They are killed at random while hundreds of
// decisions are due; in the end every execution is through, no decision was made twice, and the states are those of
// the full fold.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { createHints } from '../../src/services/state/hints.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { scaled } from '../support/scale.js'
import { until } from '../support/until.js'
import { foldText, insertForeign, openState, start } from './stateHarness.js'

const EXECUTIONS = scaled(60, 200)
const STEPS = 5
const KILLS = scaled(3, 6)

const database = useDatabase()
const SCRIPT = new URL('./driverProcess.mjs', import.meta.url).pathname
let core: TestCore
const drivers = new Map<string, ChildProcess>()
const ready = new Set<ChildProcess>()
const said: string[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(async () => {
  for (const child of drivers.values()) child.kill('SIGKILL')
  await core.close()
})

function launch(name: string): void {
  const child = spawn(process.execPath, [SCRIPT, database.get().url, name], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.on('data', (chunk) => {
    ready.add(child)
    said.push(String(chunk))
  })
  child.stderr.on('data', (chunk) => said.push(String(chunk)))
  drivers.set(name, child)
}

interface OpenCommand {
  execution_id: string
  node_name: string
  command_id: string
}

it(`${EXECUTIONS} executions of ${STEPS} steps, ${KILLS} kills: all through, every decision once`, async () => {
  const catalogId = await registerPlaybook(core, 'test/two')
  launch('left')
  launch('right')
  const ids = await Promise.all(Array.from({ length: EXECUTIONS }, () => start(core, catalogId)))
  const hints = createHints({ databases: core.databases, onError: () => undefined })
  const answered = new Set<string>()

  /** Workers that answer every command once, most through the front door, some straight into the table. */
  async function work(): Promise<void> {
    const open = await database
      .get()
      .sql<OpenCommand>(
        `select execution_id, node_name, meta ->> 'command_id' as command_id from noetl.event where event_type = 'command.issued'`,
      )
    for (const { execution_id, node_name, command_id } of open) {
      if (answered.has(command_id)) continue
      answered.add(command_id)
      if (answered.size % 4 === 0) {
        const eventId = core.ids.next()
        await insertForeign(database.get(), execution_id, {
          eventId,
          type: 'command.completed',
          step: node_name,
          meta: { command_id },
        })
      } else {
        await ingestEvent(core, {
          execution_id,
          event_type: 'command.completed',
          node_name,
          meta: { command_id },
        })
        hints.add(0, execution_id)
      }
    }
  }

  onTestFailed(() => console.error(`${kills} kills, ${answered.size} answers\n${said.slice(-40).join('')}`))
  let kills = 0
  let nextKill = 0
  await until(
    'all executions are through',
    async () => {
      await work()
      // One that has not started yet would be no victim.
      const isReady = [...drivers.values()].every((child) => ready.has(child))
      if (!isReady) nextKill = Math.max(nextKill, performance.now() + 300 + Math.random() * 1_200)
      if (kills < KILLS && isReady && performance.now() > nextKill) {
        const name = Math.random() < 0.5 ? 'left' : 'right'
        drivers.get(name)!.kill('SIGKILL')
        launch(name)
        kills += 1
      }
      const [row] = await database
        .get()
        .sql<{ count: number }>(`select count(*)::int as count from noetl.execution where status = 'COMPLETED'`)
      return row!.count === EXECUTIONS && kills === KILLS
    },
    { timeoutMs: 240_000, everyMs: 50 },
  )

  const keys = await database.get().sql<{ key: string; count: number; executions: number }>(
    `select meta ->> 'idempotency_key' as key, count(*)::int as count, count(distinct execution_id)::int as executions
     from noetl.event where event_type in ('command.issued', 'playbook.completed') group by 1 order by 1`,
  )
  expect(keys).toEqual(
    ['end', 'issue:s1', 'issue:s2', 'issue:s3', 'issue:s4', 'issue:s5'].map((key) => ({
      key,
      count: EXECUTIONS,
      executions: EXECUTIONS,
    })),
  )
  const reader = await openState(core, { drive: false })
  for (const id of ids) expect(await reader.sealed(id)).toBe(await foldText(database.get(), id))
  await reader.close()

  // One that has not started yet would not hear the request to stop.
  await until('both are up', () => [...drivers.values()].every((child) => ready.has(child)), { timeoutMs: 120_000 })
  for (const child of drivers.values()) child.kill('SIGTERM')
  await Promise.all([...drivers.values()].map((child) => child.exitCode ?? once(child, 'exit')))
  // The lanes of one that was killed shortly before the end are its own until its lease is over; nobody is left to
  // take them. Those who stopped in order hold none.
  const stopped = [...drivers].map(([name, child]) => `${name}:${child.pid}`)
  const held = await database
    .get()
    .sql<{ slot: number; owner: string }>('select slot, owner from noetl.lease where owner = any($1::text[])', [
      stopped,
    ])
  expect(held).toEqual([])
}, 300_000)
