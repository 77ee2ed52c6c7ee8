// Promise: whoever decides is asked about everything that happened, whoever saw it first, and at the time it wished to be
// asked, whatever rounds without news came in between.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { append, openState, start, type TestState } from './stateHarness.js'

const CHAIN = new URL('./orchestrators/chain.mjs', import.meta.url).pathname
const TIMER = new URL('./orchestrators/timer.mjs', import.meta.url).pathname

const database = useDatabase()
let core: TestCore
let elsewhere: TestCore
let catalogId: string
let state: TestState

beforeAll(async () => {
  core = await openCore([database.get()])
  elsewhere = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/asked')
})
afterEach(() => state.close())
afterAll(async () => {
  await core.close()
  await elsewhere.close()
})

async function open(orchestrator: string): Promise<void> {
  state = await openState(core, { orchestrator })
  await until('lanes are held', () => state.service.stats().lanes[0] === 64)
}

async function issuedSteps(executionId: string): Promise<string[]> {
  const rows = await database.get().sql<{ node_name: string }>(
    `select node_name from noetl.event where execution_id = $1::bigint and event_type = 'command.issued'
     order by stream_version`,
    [executionId],
  )
  return rows.map(({ node_name }) => node_name)
}

it('what another daemon appended is decided upon although somebody who only looked has read it first', async () => {
  await open(CHAIN)
  const id = await start(core, catalogId)
  await until('the first step is issued', async () => (await issuedSteps(id)).length === 1)
  await state.service.ask(id, {})
  await append(elsewhere, id, 'command.completed', 's1', { meta: { command_id: `${id}:s1` } })
  expect((await state.service.ask(id, {})).applied).toBe(1)
  await until('the second step is issued', async () => (await issuedSteps(id)).includes('s2'), { timeoutMs: 30_000 })
})

it('a wish to be asked again outlives rounds in which nothing is new', async () => {
  await open(TIMER)
  const id = await start(core, catalogId)
  await until('it was asked', () => state.counts.advances > 0)
  state.service.trigger(id)
  await state.service.ask(id, { drive: true })
  const status = async () =>
    (
      await database.get().sql<{ status: string }>('select status from noetl.execution where execution_id = $1', [id])
    )[0]!.status
  await until('it has ended', async () => (await status()) === 'COMPLETED', { timeoutMs: 30_000 })
})
